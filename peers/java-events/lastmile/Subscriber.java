package lastmile;

import java.rmi.Remote;
import java.rmi.RemoteException;

/** What a sensor calls back. */
interface Subscriber extends Remote {
    void receive(Event event) throws RemoteException;
}
