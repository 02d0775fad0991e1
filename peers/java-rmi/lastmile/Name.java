package lastmile;

import java.io.Serializable;

/** An author. */
final class Name implements Serializable {
    private static final long serialVersionUID = 1;
    final String lastname;
    final String initials;

    Name(String lastname, String initials) {
        this.lastname = lastname;
        this.initials = initials;
    }
}
