package lastmile;

import java.rmi.Remote;
import java.rmi.RemoteException;

/** What applications and subscribers call. */
interface Sensor extends Remote {
    void submit(Event event) throws RemoteException;

    void subscribe(Subscriber subscriber) throws RemoteException;
}
