package lastmile;

import java.nio.charset.StandardCharsets;

/** Counts calls, and hashes what they carry in the order of their arrival: FNV-1a over the fields as text. */
final class Received {
    private long calls;
    private long hash = 0xcbf29ce484222325L;

    private void add(Object value) {
        for (byte next : value.toString().getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (next & 0xff)) * 0x100000001b3L;
        }
        hash *= 0x100000001b3L;
    }

    synchronized void text(String[] lines) {
        calls++;
        for (String line : lines) {
            add(line);
        }
    }

    synchronized void bibliography(Entry[] entries) {
        calls++;
        for (Entry entry : entries) {
            for (Name author : entry.authors) {
                add(author.lastname);
                add(author.initials);
            }
            add(entry.title);
            add(entry.journal);
            add(entry.year);
            add(entry.publisher);
            add(entry.location);
            add(entry.edition);
            add(entry.hyperlink);
            add(entry.volume);
            add(entry.issue);
            add(entry.pages.start);
            add(entry.pages.end);
        }
    }

    synchronized void tick(int id, short value) {
        calls++;
        add(id);
        add(value);
    }

    synchronized String report(String event) {
        return String.format("{\"event\": \"%s\", \"calls\": %d, \"digest\": \"%016x\"}", event, calls, hash);
    }
}
