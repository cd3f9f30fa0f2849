#include <app/local_server.hpp>
#include <kasane/core/base/error.hpp>

#include <fmt/format.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <sstream>

namespace kasane::app {
namespace {

constexpr std::size_t most_request_bytes = 16384;
constexpr int client_seconds = 5, poll_milliseconds = 200;

/// A connection that is closed at the end.
struct Connection {
    explicit Connection(int descriptor) : socket(descriptor) {}
    ~Connection() { ::close(socket); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    int socket;
};

/// The head of a request: its lines up to the empty one; empty where the client is slow, gone, or sends too much.
std::string request_head(int socket) {
    std::string text;
    char block[2048];
    while (text.find("\r\n\r\n") == std::string::npos) {
        const auto n = ::recv(socket, block, sizeof block, 0);
        if (n <= 0 || text.size() > most_request_bytes) return "";
        text.append(block, static_cast<std::size_t>(n));
    }
    return text;
}

void send_all(int socket, const std::string& text) {
    for (std::size_t sent = 0; sent < text.size();) {
        const auto n = ::send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) return;
        sent += static_cast<std::size_t>(n);
    }
}

std::string response_head(const std::string& status, const HttpResponse& response) {
    auto text = fmt::format(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        "Connection: close\r\n",
        status, response.type, response.body.size());
    if (response.refresh > 0) text += fmt::format("Refresh: {}\r\n", response.refresh);
    return text + "\r\n";
}

/// The value of a header of a request; empty where it is missing.
std::string header_value(const std::string& request, const std::string& name) {
    std::istringstream lines(request);
    for (std::string line; std::getline(lines, line);) {
        if (line.size() <= name.size() || line[name.size()] != ':') continue;
        if (!std::equal(name.begin(), name.end(), line.begin(),
                        [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); }))
            continue;
        const auto begin = line.find_first_not_of(' ', name.size() + 1), end = line.find_last_not_of(" \r");
        return begin == std::string::npos || end < begin ? "" : line.substr(begin, end - begin + 1);
    }
    return "";
}

bool names_this_machine(const std::string& host, int port) {
    const auto with_port = ":" + std::to_string(port);
    return host == "127.0.0.1" + with_port || host == "localhost" + with_port;
}

/// %2F as '/'. Empty where it is malformed or holds a NUL.
std::string decoded(const std::string& path) {
    std::string text;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] != '%') {
            text += path[i];
            continue;
        }
        const auto digit = [&](std::size_t at) { return at < path.size() && std::isxdigit(static_cast<unsigned char>(path[at])); };
        if (!digit(i + 1) || !digit(i + 2)) return "";
        text += static_cast<char>(std::stoi(path.substr(i + 1, 2), nullptr, 16));
        i += 2;
    }
    return text.find('\0') == std::string::npos ? text : "";
}

HttpResponse plain_response(const std::string& text) { return {"text/plain; charset=utf-8", text + "\n", 0}; }

}  // namespace

LocalServer::LocalServer(int port) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(socket_, 16) != 0) {
        const std::string reason = std::strerror(errno);
        ::close(socket_);
        throw InputError(fmt::format("{}: port {} cannot be used; choose another one, or 0 for any that is free", reason, port),
                         {"", 0, 0, "--port"});
    }
    socklen_t size = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
}

LocalServer::~LocalServer() { ::close(socket_); }

void LocalServer::serve(const std::function<std::optional<HttpResponse>(const std::string& path)>& answer,
                        const std::function<bool()>& stop) {
    while (!stop()) {
        pollfd waiting{socket_, POLLIN, 0};
        if (::poll(&waiting, 1, poll_milliseconds) <= 0) continue;
        const int accepted = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
        if (accepted < 0) continue;
        const Connection client(accepted);
        const timeval limit{client_seconds, 0};
        ::setsockopt(client.socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ::setsockopt(client.socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        const auto request = request_head(client.socket);
        std::istringstream words(request);
        std::string method, target;
        words >> method >> target;
        if (target.empty()) continue;

        std::string status = "200 OK";
        std::optional<HttpResponse> response;
        if (method != "GET" && method != "HEAD") {
            status = "405 Method Not Allowed";
            response = plain_response("This page can only be read.");
        } else if (!names_this_machine(header_value(request, "Host"), port_)) {
            status = "403 Forbidden";
            response = plain_response("This page is for browsers on this machine.");
        } else {
            const auto path = decoded(target.substr(0, target.find('?')));
            if (path.starts_with("/")) response = answer(path);
            if (!response) {
                status = "404 Not Found";
                response = plain_response("There is no such file.");
            }
        }
        send_all(client.socket, response_head(status, *response));
        if (method != "HEAD") send_all(client.socket, response->body);
    }
}

}  // namespace kasane::app
