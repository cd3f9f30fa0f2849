// Answers HTTP requests of browsers on this machine: GET and HEAD, one after the other.
// Invariants: listens on 127.0.0.1 alone; a request that names another host in its Host header is refused, so that a page of another site
// cannot read through a name that it resolves to this machine; nothing is written; a slow client is dropped.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace kasane::app {

struct HttpResponse {
    std::string type;  ///< "text/html; charset=utf-8"
    std::string body;
    int refresh = 0;  ///< [s] after which the browser loads the page again; 0: not
};

class LocalServer {
   public:
    /// @param port  0: any that is free   @throws InputError: the port is taken or not allowed
    explicit LocalServer(int port);
    ~LocalServer();
    LocalServer(const LocalServer&) = delete;
    LocalServer& operator=(const LocalServer&) = delete;

    int port() const { return port_; }
    /// Answers requests until stop() is true, which is called several times a second.
    /// @param answer  the response for a path that begins with "/", decoded and without a query; empty: 404
    void serve(const std::function<std::optional<HttpResponse>(const std::string& path)>& answer, const std::function<bool()>& stop);

   private:
    int socket_ = -1, port_ = 0;
};

}  // namespace kasane::app
