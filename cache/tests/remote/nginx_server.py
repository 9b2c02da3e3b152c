"""nginx on loopback with the configuration file that docs/remote-cache.md shows.

Arguments: nginx's program, the configuration, an empty folder, and which commented parts of the
configuration to enable: `tls`, `password`. Prints `listening on PORT` and ends when standard input
does. The folder then has `entries/` and, with `tls`, `ca.pem`.
"""

import os
import re
import socket
import subprocess
import sys
import time

MAIN = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  {temporaries}
  include {folder}/site.conf;
}}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def replaced(text, pattern, new):
    text, count = re.subn(pattern, new, text)
    if count == 0:
        sys.exit(f"the configuration has no {pattern}")
    return text


def make_certificate(folder):
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            "key.pem",
            "-out",
            "ca.pem",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
        ],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def write_site(site, folder, port, wanted):
    text = replaced(site, r"/srv/tilejit-cache", folder)
    text = replaced(text, r"\n  listen \d+;", f"\n  listen 127.0.0.1:{port};")
    if "tls" in wanted:
        make_certificate(folder)
        text = replaced(text, r"\n  listen [^;]*;", "")
        text = replaced(text, r"# (listen) \d+ (ssl;)", rf"\1 127.0.0.1:{port} \2")
        text = replaced(text, r"# (ssl_certificate )[^;]*", rf"\1{folder}/ca.pem")
        text = replaced(text, r"# (ssl_certificate_key )[^;]*", rf"\1{folder}/key.pem")
    if "password" in wanted:
        text = replaced(text, r"# (auth_basic )", r"\1")
        text = replaced(text, r"# (auth_basic_user_file )[^;]*", rf"\1{folder}/passwords")
        with open(f"{folder}/passwords", "w") as file:
            file.write("writer:{PLAIN}s3cret/word\n")
    with open(f"{folder}/site.conf", "w") as file:
        file.write(text)


def wait_until_it_listens(port, server):
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if server.poll() is not None:
                sys.exit("nginx ended")
            time.sleep(0.05)
    sys.exit("nginx does not listen")


def main():
    program, configuration, folder, *wanted = sys.argv[1:]
    port = free_port()
    with open(configuration) as file:
        write_site(file.read(), folder, port, wanted)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporaries = "\n  ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    with open(f"{folder}/nginx.conf", "w") as file:
        file.write(MAIN.format(folder=folder, temporaries=temporaries))
    os.makedirs(f"{folder}/entries", exist_ok=True)
    server = subprocess.Popen(
        [program, "-p", folder, "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until_it_listens(port, server)
        print(f"listening on {port}", flush=True)
        sys.stdin.read()
    finally:
        server.terminate()
        server.wait()


main()
