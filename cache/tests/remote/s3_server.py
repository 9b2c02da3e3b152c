"""An S3 server on loopback: OpenStack Swift with its s3api, which verifies AWS Signature V4.

Proxy, account, container and object server (in memory) run in this one process. Arguments: the
secret of the access key test:tester, a bucket to create, an empty folder. Prints `listening on
PORT` once the bucket exists and ends when standard input does. Needs Debian's python3-swift.
"""

import array
import http.client
import os
import sys

os.environ.setdefault("EVENTLET_NO_GREENDNS", "yes")

import eventlet  # noqa: E402

eventlet.monkey_patch(os=False)

from eventlet import wsgi  # noqa: E402
from swift.account import server as account_server  # noqa: E402
from swift.common import utils  # noqa: E402
from swift.common.middleware import tempauth  # noqa: E402
from swift.common.middleware.s3api import s3api  # noqa: E402
from swift.common.ring import RingData  # noqa: E402
from swift.container import server as container_server  # noqa: E402
from swift.obj import mem_server  # noqa: E402
from swift.proxy import server as proxy_server  # noqa: E402

ACCOUNT = "test"
USER = "tester"


class Cache:
    """What Swift keeps in memcached: only this process reads it."""

    def __init__(self):
        self.values = {}

    def get(self, key, **_):
        return self.values.get(key)

    def set(self, key, value, **_):
        self.values[key] = value

    def delete(self, key, **_):
        self.values.pop(key, None)


def with_cache(app):
    cache = Cache()

    def call(env, start_response):
        env["swift.cache"] = cache
        return app(env, start_response)

    return call


def serve(socket, app):
    eventlet.spawn(wsgi.server, socket, app, open(os.devnull, "w"), log_output=False, debug=False)


def write_ring(folder, name, port):
    device = {"id": 0, "zone": 0, "device": "sda", "ip": "127.0.0.1", "port": port}
    os.chdir(folder)  # where RingData.save puts its temporary file
    RingData([array.array("H", [0, 0])], [device], 31).save(os.path.join(folder, name + ".ring.gz"))


def start(folder, secret):
    utils.HASH_PATH_PREFIX, utils.HASH_PATH_SUFFIX = b"", b"tilejit"
    os.makedirs(os.path.join(folder, "sda"))
    conf = {
        "devices": folder,
        "swift_dir": folder,
        "mount_check": "false",
        "allow_account_management": "true",
        "account_autocreate": "true",
        "workers": "0",
        "log_level": "ERROR",
        f"user_{ACCOUNT}_{USER}": f"{secret} .admin",
        "auth_pipeline_check": "false",
        "location": "eu-test-1",
    }
    backends = {
        "account": account_server.AccountController,
        "container": container_server.ContainerController,
        "object": mem_server.ObjectController,
    }
    for name, controller in backends.items():
        socket = eventlet.listen(("127.0.0.1", 0))
        write_ring(folder, name, socket.getsockname()[1])
        serve(socket, controller(conf))
    front = eventlet.listen(("127.0.0.1", 0))
    app = proxy_server.Application(conf)
    app = tempauth.filter_factory({}, **conf)(app)
    app = s3api.filter_factory({}, **conf)(app)
    serve(front, with_cache(app))
    return front.getsockname()[1]


def make_bucket(port, secret, bucket):
    def request(method, path, headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        if response.status // 100 != 2:
            sys.exit(f"{method} {path}: {response.status} {response.read()}")
        return response

    user = {"X-Auth-User": f"{ACCOUNT}:{USER}", "X-Auth-Key": secret}
    token = request("GET", "/auth/v1.0", user).getheader("X-Auth-Token")
    request("PUT", f"/v1/AUTH_{ACCOUNT}/{bucket}", {"X-Auth-Token": token})


def end_with_standard_input():
    def wait():
        while os.read(0, 4096):
            pass
        os._exit(0)

    eventlet.patcher.original("threading").Thread(target=wait, daemon=True).start()


def main():
    secret, bucket, folder = sys.argv[1:]
    end_with_standard_input()
    port = start(folder, secret)
    make_bucket(port, secret, bucket)
    print(f"listening on {port}", flush=True)
    eventlet.sleep(1e9)


main()
