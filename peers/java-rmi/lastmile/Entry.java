package lastmile;

import java.io.Serializable;

/** A work of a bibliography. */
final class Entry implements Serializable {
    private static final long serialVersionUID = 1;
    Name[] authors;
    String title;
    String journal;
    short year;
    String publisher;
    String location;
    String edition;
    String hyperlink;
    short volume;
    short issue;
    Pages pages;
}
