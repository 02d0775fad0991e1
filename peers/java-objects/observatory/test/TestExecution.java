package observatory.test;

/** An execution of a test procedure: an object of the cases A to G. */
public class TestExecution extends StoredObject {
    public long startTime;
    public long endTime;
    public boolean completed;
    public String campaign;
    public String instrumentModel;
    public String testConfiguration;
    public String operator;
    public TestProcedure procedure;
    public TestOutcome outcome;
    public String log;
}
