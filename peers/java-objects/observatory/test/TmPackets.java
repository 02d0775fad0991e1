package observatory.test;

/** A telemetry packet as it was stored: an object of the cases H and I. */
public class TmPackets extends StoredObject {
    public long generationTime;
    public long receptionTime;
    public int applicationIdentifier;
    public int sequenceCount;
    public int structureIdentifier;
    public int groundStation;
    public byte serviceType;
    public byte serviceSubtype;
    public byte virtualChannel;
    public boolean errorControlPassed;
    public boolean timeCorrelated;
    public boolean qualityChecked;
    public byte[] data;
}
