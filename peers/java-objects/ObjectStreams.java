package lastmile;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Reads every object stream of LASTMILE_DATA into objects of the classes it names, and writes these objects to a file of the same
 * name in LASTMILE_STATE. The JDK alone decides what the bytes are: the classes have no say in it.
 */
final class ObjectStreams {
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1 && arguments[0].equals("--version")) {
            System.out.println("Java " + Runtime.version());
            return;
        }
        Path data = Path.of(System.getenv("LASTMILE_DATA"));
        Path state = Path.of(System.getenv("LASTMILE_STATE"));
        System.out.printf("{\"event\": \"hello\", \"version\": \"Java %s\"}%n", Runtime.version());
        for (Path stream : streams(data)) {
            List<Object> objects = read(stream);
            write(objects, state.resolve(stream.getFileName()));
            System.out.printf(
                    "{\"event\": \"rewritten\", \"stream\": \"%s\", \"objects\": %d}%n",
                    stream.getFileName(), objects.size());
        }
        System.out.println("{\"event\": \"end\"}");
    }

    private static List<Path> streams(Path data) throws IOException {
        try (Stream<Path> files = Files.list(data)) {
            return files.sorted().toList();
        }
    }

    private static List<Object> read(Path stream) throws IOException, ClassNotFoundException {
        List<Object> objects = new ArrayList<>();
        try (InputStream bytes = new BufferedInputStream(Files.newInputStream(stream));
                ObjectInputStream in = new ObjectInputStream(bytes)) {
            while (true) {
                objects.add(in.readObject());
            }
        } catch (EOFException end) {
            return objects;
        }
    }

    private static void write(List<Object> objects, Path stream) throws IOException {
        try (ObjectOutputStream out = new ObjectOutputStream(Files.newOutputStream(stream))) {
            for (Object object : objects) {
                out.writeObject(object);
            }
        }
    }
}
