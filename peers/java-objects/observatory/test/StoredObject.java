package observatory.test;

import java.io.Serializable;

/** An object that has an identity, and was stored so many times. */
public class StoredObject implements Serializable {
    public long identifier;
    public int revision;
}
