package observatory.test;

import java.io.Serializable;

/** What was executed. */
public class TestProcedure implements Serializable {
    public int version;
    public String name;
    public String description;
    public String script;
}
