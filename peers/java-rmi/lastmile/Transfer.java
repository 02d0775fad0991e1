package lastmile;

import java.rmi.Remote;
import java.rmi.RemoteException;

/** The calls that lastmile compares encodings and protocols with. */
interface Transfer extends Remote {
    void putText(String[] lines) throws RemoteException;

    void putBib(Entry[] entries) throws RemoteException;

    void tick(int id, short value) throws RemoteException;

    void ping() throws RemoteException;

    String[] getText() throws RemoteException;
}
