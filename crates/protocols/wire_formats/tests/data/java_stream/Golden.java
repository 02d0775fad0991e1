import java.io.*;
import java.util.*;

/** Writes the streams beside it: every kind of value, shared instances, block data with a reset, and a cycle. */
public class Golden {
    static class Node implements Serializable {
        private static final long serialVersionUID = 1L;
        int value;
        Node next;

        Node(int value, Node next) {
            this.value = value;
            this.next = next;
        }
    }

    static class Base implements Serializable {
        private static final long serialVersionUID = 2L;
        short s = -2;
        char c = '\u00e9';
    }

    enum Color { RED, GREEN }

    static class All extends Base {
        private static final long serialVersionUID = 3L;
        byte b = -1;
        boolean z = true;
        int i = 0x01020304;
        long j = -5L;
        float f = 1.5f;
        double d = -0.25;
        String text = "a\0\u20ac\ud83d\ude00";
        Object none = null;
        int[] ints = {1, -2};
        String[] names = {text, "two", text};
        byte[] bytes = {1, 2, 3};
        int[][] grid = {{1}, {}};
        List<String> list = new ArrayList<>(List.of("two", text));
        Date date = new Date(1118793600000L);
        Color color = Color.GREEN;
        Class<?> type = Date.class;
    }

    static void write(String name, Object... objects) throws IOException {
        try (ObjectOutputStream out = new ObjectOutputStream(new FileOutputStream(name))) {
            for (Object object : objects) {
                out.writeObject(object);
            }
        }
    }

    public static void main(String[] arguments) throws IOException {
        All all = new All();
        write("all-kinds.ser", all, Color.RED, all, new All());
        Node last = new Node(3, null);
        write("shared-nodes.ser", new Node(1, new Node(2, last)), last, new Node(4, last));
        try (ObjectOutputStream out = new ObjectOutputStream(new FileOutputStream("blocks.ser"))) {
            out.writeInt(7);
            out.writeObject("x");
            out.write(new byte[1500]);
            out.writeObject(null);
            out.reset();
            out.writeObject("x");
            out.writeUTF("end");
        }
        Node loop = new Node(1, null);
        loop.next = loop;
        write("cycle.ser", loop);
    }
}
