package lastmile;

import java.io.Serializable;

/** The pages of an article. */
final class Pages implements Serializable {
    private static final long serialVersionUID = 1;
    final short start;
    final short end;

    Pages(short start, short end) {
        this.start = start;
        this.end = end;
    }
}
