// A web client, or several, and a server on an ad hoc network of 802.11b, simulated by ns-3: what radio_speed compares lastmile with.
//
// Each request has a connection of its own; with --bulk the server sends without end over one. It prints one line of JSON.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

namespace {

constexpr uint16_t kPort = 80;
constexpr uint32_t kRequestBytes = 72;
// Head and body of a response.
constexpr uint32_t kResponseBytes = 62 + 1000;

uint64_t g_completed = 0;
uint64_t g_bulkBytes = 0;
uint64_t g_frames = 0;
double g_responseTime = 0;
Time g_end;
double g_rate = 0;

// The server: answers each connection's request and closes, or sends without end.
class Server {
  public:
    Server(Ptr<Node> node, bool bulk) : m_bulk(bulk) {
        m_socket = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
        m_socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), kPort));
        m_socket->Listen();
        m_socket->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address &>(), MakeCallback(&Server::Accept, this));
    }

  private:
    void Accept(Ptr<Socket> socket, const Address &) {
        socket->SetRecvCallback(MakeCallback(&Server::Receive, this));
    }

    void Receive(Ptr<Socket> socket) {
        uint32_t received = 0;
        while (Ptr<Packet> packet = socket->Recv()) {
            if (packet->GetSize() == 0) {
                break;
            }
            received += packet->GetSize();
        }
        if (received == 0) {
            return;
        }
        if (m_bulk) {
            socket->SetSendCallback(MakeCallback(&Server::Fill, this));
            Fill(socket, socket->GetTxAvailable());
            return;
        }
        socket->Send(Create<Packet>(kResponseBytes));
        socket->Close();
    }

    void Fill(Ptr<Socket> socket, uint32_t) {
        while (socket->GetTxAvailable() >= 1448) {
            if (socket->Send(Create<Packet>(1448)) <= 0) {
                return;
            }
        }
    }

    bool m_bulk;
    Ptr<Socket> m_socket;
};

// A client: a request at each time of its schedule, or, without a rate, after each response.
class Client {
  public:
    Client(Ptr<Node> node, Ipv4Address server, bool bulk) : m_node(node), m_server(server), m_bulk(bulk) {}

    void Ask() {
        if (Simulator::Now() >= g_end) {
            return;
        }
        Ptr<Socket> socket = Socket::CreateSocket(m_node, TcpSocketFactory::GetTypeId());
        m_open[socket] = Request{Simulator::Now(), 0};
        socket->SetConnectCallback(MakeCallback(&Client::Connected, this), MakeCallback(&Client::Failed, this));
        socket->SetRecvCallback(MakeCallback(&Client::Receive, this));
        socket->SetCloseCallbacks(MakeCallback(&Client::Failed, this), MakeCallback(&Client::Failed, this));
        socket->Bind();
        socket->Connect(InetSocketAddress(m_server, kPort));
        if (g_rate > 0 && !m_bulk) {
            Simulator::Schedule(Seconds(1.0 / g_rate), &Client::Ask, this);
        }
    }

  private:
    struct Request {
        Time start;
        uint32_t received;
    };

    void Connected(Ptr<Socket> socket) {
        socket->Send(Create<Packet>(kRequestBytes));
    }

    void Failed(Ptr<Socket> socket) {
        m_open.erase(socket);
    }

    void Receive(Ptr<Socket> socket) {
        auto found = m_open.find(socket);
        while (Ptr<Packet> packet = socket->Recv()) {
            if (packet->GetSize() == 0) {
                break;
            }
            if (m_bulk) {
                g_bulkBytes += packet->GetSize();
            } else if (found != m_open.end()) {
                found->second.received += packet->GetSize();
            }
        }
        if (m_bulk || found == m_open.end() || found->second.received < kResponseBytes) {
            return;
        }
        if (Simulator::Now() <= g_end) {
            g_completed += 1;
            g_responseTime += (Simulator::Now() - found->second.start).GetSeconds();
        }
        m_open.erase(found);
        socket->Close();
        if (g_rate <= 0) {
            Simulator::ScheduleNow(&Client::Ask, this);
        }
    }

    Ptr<Node> m_node;
    Ipv4Address m_server;
    bool m_bulk;
    std::map<Ptr<Socket>, Request> m_open;
};

void CountFrame(Ptr<const Packet>, double) {
    g_frames += 1;
}

} // namespace

int main(int argc, char *argv[]) {
    bool bulk = false;
    bool longPreamble = true;
    bool twoMegabitAcks = true;
    uint32_t clients = 1;
    double seconds = 20;
    double distance = 1;
    std::string capture;
    CommandLine command;
    command.AddValue("bulk", "one endless response instead of requests", bulk);
    command.AddValue("rate", "requests per second of each client; 0: after each response", g_rate);
    command.AddValue("clients", "the number of clients", clients);
    command.AddValue("seconds", "virtual seconds", seconds);
    command.AddValue("distance", "metres from the server to each client", distance);
    command.AddValue("long-preamble", "long preambles", longPreamble);
    command.AddValue("two-megabit-acks", "2 Mbit/s is a basic rate", twoMegabitAcks);
    command.AddValue("capture", "prefix of captures with radiotap headers", capture);
    command.Parse(argc, argv);
    g_end = Seconds(seconds);

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("100p"));

    NodeContainer nodes;
    nodes.Create(clients + 1);
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("DsssRate11Mbps"), "ControlMode", StringValue("DsssRate2Mbps"));
    YansWifiChannelHelper channel = YansWifiChannelHelper::Default();
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.SetPcapDataLinkType(WifiPhyHelper::DLT_IEEE802_11_RADIO);
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    for (uint32_t index = 0; index < devices.GetN(); ++index) {
        Ptr<WifiNetDevice> device = DynamicCast<WifiNetDevice>(devices.Get(index));
        Ptr<WifiRemoteStationManager> manager = device->GetRemoteStationManager();
        manager->SetShortPreambleEnabled(!longPreamble);
        if (twoMegabitAcks) {
            manager->AddBasicMode(WifiMode("DsssRate2Mbps"));
        }
        device->GetPhy()->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&CountFrame));
    }

    MobilityHelper mobility;
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    for (uint32_t index = 0; index < clients; ++index) {
        double angle = 2 * M_PI * index / clients;
        places->Add(Vector(distance * std::cos(angle), distance * std::sin(angle), 0));
    }
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    InternetStackHelper internet;
    internet.Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    if (!capture.empty()) {
        phy.EnablePcap(capture, devices);
    }

    Server server(nodes.Get(0), bulk);
    std::vector<std::unique_ptr<Client>> running;
    for (uint32_t index = 0; index < clients; ++index) {
        running.push_back(std::make_unique<Client>(nodes.Get(index + 1), interfaces.GetAddress(0), bulk));
        double phase = g_rate > 0 ? index / g_rate / clients : 0;
        Simulator::Schedule(Seconds(phase), &Client::Ask, running.back().get());
    }
    Simulator::Stop(g_end);
    auto begin = std::chrono::steady_clock::now();
    Simulator::Run();
    std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    std::cout << "{\"virtual_seconds\": " << seconds << ", \"wall_seconds\": " << wall.count() << ", \"frames\": " << g_frames
              << ", \"completed\": " << g_completed << ", \"response_seconds\": " << (g_completed ? g_responseTime / g_completed : 0)
              << ", \"bulk_bytes\": " << g_bulkBytes << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
