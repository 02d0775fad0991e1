package lastmile;

import java.io.Serializable;

/** An event. */
final class Event implements Serializable {
    private static final long serialVersionUID = 1;
    final long timeNs;
    final String text;
    final int value;

    Event(long timeNs, String text, int value) {
        this.timeNs = timeNs;
        this.text = text;
        this.value = value;
    }
}
