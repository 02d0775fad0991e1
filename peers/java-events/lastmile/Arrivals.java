package lastmile;

import java.util.Arrays;
import java.util.stream.Collectors;

/** Notes when events arrive. */
final class Arrivals implements Subscriber {
    private long[] created = new long[0];
    private long[] arrived = new long[0];
    private int count;
    private long timing;

    @Override
    public synchronized void receive(Event event) {
        long at = Events.now();
        created[count] = event.timeNs;
        arrived[count] = at;
        count++;
        timing += Events.now() - at;
        notifyAll();
    }

    /** Forgets what arrived, and expects so many. */
    synchronized void expect(int events) {
        created = new long[events];
        arrived = new long[events];
        count = 0;
        timing = 0;
    }

    /** Waits for all, or until none has come for a time; what came, as JSON. */
    synchronized String await(long patienceMilliseconds) throws InterruptedException {
        int before = -1;
        long since = System.nanoTime();
        while (count < arrived.length) {
            if (count != before) {
                before = count;
                since = System.nanoTime();
            }
            long left = patienceMilliseconds - (System.nanoTime() - since) / 1_000_000;
            if (left <= 0) {
                break;
            }
            wait(left);
        }
        return String.format(
            "{\"event\": \"run\", \"events\": %d, \"created_ns\": %s, \"arrived_ns\": %s, \"timing_ns\": %d}",
            count, list(created), list(arrived), timing);
    }

    private String list(long[] times) {
        return Arrays.stream(times, 0, count).mapToObj(Long::toString).collect(Collectors.joining(", ", "[", "]"));
    }
}
