package observatory.test;

import java.io.Serializable;

/** How an execution ended. */
public class TestOutcome implements Serializable {
    public int stepsPassed;
    public int stepsFailed;
    public String verdict;
    public String reviewer;
}
