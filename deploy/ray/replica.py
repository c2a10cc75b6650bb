"""Runs one replica of an engine as a Ray job: Python's standard library only, Linux.

Ray starts this file in a folder with `replica.json`: command, environment, address and ports. It

- takes a free port of the range, and reports address, port and GPUs in the first line of its log;
- starts the engine with a small environment, fills in {{host}}, {{port}} and {{working_folder}};
- writes each line of the engine with its time and number, without the values of secrets;
- on SIGTERM, ends the engine with SIGTERM; how it ended is the last line.

There are two processes. Ray knows the first, and kills it when a job does not end in time or when its node is lost. The
second, in a session of its own, is the parent of the engine: when the first one has gone, it kills the engine and every
process that the engine has started, in whatever session.
"""

import ctypes
import datetime
import errno
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SPEC = "replica.json"
# Names the replica that a process belongs to; child processes inherit it.
MARK = "TWINYARD_RAY_JOB"
# What programs need to find their libraries and their user, and nothing that could be a secret.
BASE = (
    "PATH HOME USER LOGNAME SHELL TMPDIR TZ LANG LANGUAGE LC_ALL LC_CTYPE LD_LIBRARY_PATH CUDA_HOME CUDA_PATH "
    "SSL_CERT_FILE SSL_CERT_DIR HF_HOME XDG_CACHE_HOME HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy"
).split()
DEVICES = "CUDA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES".split()
LONGEST_LINE = 64 * 1024
SHORTEST_SECRET = 8
TICK_S = 0.2
# How long output may follow the end of the engine, and how long SIGKILL may take.
DRAIN_S = 1.0
KILL_S = 10.0
PR_SET_PDEATHSIG = 1
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main():
    with open(SPEC, encoding="utf-8") as file:
        spec = json.load(file)
    # It holds secrets, and the folder stays as long as the job.
    os.unlink(SPEC)
    log = Log(spec["secretEnv"].values())
    lock = take_port(spec["host"], *spec["ports"])
    if lock is None:
        log.event({"problem": "no port of {}-{} is free on {}".format(*spec["ports"], spec["host"])})
        return 1
    devices = os.environ.get("CUDA_VISIBLE_DEVICES", "") if spec["gpus"] > 0 else ""
    log.event({"address": spec["host"], "port": lock.port, "pid": os.getpid(), "devices": devices})
    stop_read, stop_write = os.pipe()
    end_read, end_write = os.pipe()
    child = os.fork()
    if child == 0:
        # Twice: what is no child of this process gets no signal from Ray.
        os.setsid()
        if os.fork() > 0:
            os._exit(0)
        os.close(stop_write)
        os.close(end_read)
        code = 1
        try:
            code = guard(spec, lock.port, log, stop_read)
        finally:
            tell(end_write, bytes([code & 0xFF]))
            os._exit(0)
    os.waitpid(child, 0)
    os.close(stop_read)
    os.close(end_write)
    return wait(stop_write, end_read)


def wait(stop_write, end_read):
    """Passes SIGTERM on until the engine has ended; returns its exit code."""
    parent = os.getppid()

    def terminate(*_):
        tell(stop_write, b"T")

    for one in ENDING:
        signal.signal(one, terminate)
    while True:
        readable, _, _ = select.select([end_read], [], [], TICK_S)
        if readable:
            code = os.read(end_read, 1)
            return code[0] if code else 1
        if os.getppid() != parent:
            return 1


def tell(pipe, data):
    try:
        os.write(pipe, data)
    except OSError:
        # The other process has gone.
        pass


def guard(spec, port, log, stop_read):
    """Runs the engine to its end; returns its exit code."""
    for one in ENDING:
        signal.signal(one, signal.SIG_IGN)
    folder = os.path.join(os.getcwd(), "work")
    os.makedirs(folder, exist_ok=True)

    def fill(text):
        values = (("{{host}}", spec["host"]), ("{{port}}", str(port)), ("{{working_folder}}", folder))
        for name, value in values:
            text = text.replace(name, value)
        return text

    env = {name: os.environ[name] for name in BASE if name in os.environ}
    env.update({name: fill(value) for name, value in {**spec["env"], **spec["secretEnv"]}.items()})
    for name in DEVICES:
        if spec["gpus"] > 0 and name in os.environ:
            env[name] = os.environ[name]
        elif name == "CUDA_VISIBLE_DEVICES":
            env[name] = ""
    env[MARK] = spec["job"]
    command = shutil.which(spec["command"], path=env.get("PATH"))
    if command is None:
        log.event({"problem": "'{}' is no program on this node".format(spec["command"]), "code": 127, "signal": None})
        return 127
    libc = ctypes.CDLL(None)

    def die_with_parent():
        for one in ENDING:
            signal.signal(one, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    try:
        engine = subprocess.Popen(
            [command] + [fill(one) for one in spec["args"]],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
    except OSError as error:
        log.event({"problem": "'{}' cannot be started: {}".format(command, error), "code": 126, "signal": None})
        return 126
    relay(engine, log, stop_read)
    kill_marked(spec["job"], log)
    log.rest(engine.stdout)
    code = engine.wait()
    name = signal.Signals(-code).name if code < 0 else None
    log.event({"code": None if code < 0 else code, "signal": name})
    return 128 - code if code < 0 else code


def relay(engine, log, stop_read):
    """Writes what the engine writes until it has ended."""
    watched = [engine.stdout, stop_read]
    while engine.poll() is None:
        readable, _, _ = select.select(watched, [], [], TICK_S)
        if engine.stdout in readable and not log.take(engine.stdout):
            watched.remove(engine.stdout)
        if stop_read in readable:
            # Nothing: the other process has gone.
            if os.read(stop_read, 64):
                engine.terminate()
            else:
                engine.kill()
                watched.remove(stop_read)


class Log:
    """Standard output, which Ray keeps as the log of the job."""

    def __init__(self, secrets):
        lines = {line.strip() for value in secrets for line in [value] + value.splitlines()}
        long = [line.encode() for line in lines if len(line) >= SHORTEST_SECRET]
        self.secrets = sorted(long, key=len, reverse=True)
        self.partial = b""
        self.count = 0

    def event(self, facts):
        self.write(b"@", json.dumps(facts).encode())

    def take(self, pipe):
        """Reads what there is; returns whether there may be more."""
        try:
            data = os.read(pipe.fileno(), LONGEST_LINE)
        except BlockingIOError:
            return True
        *lines, self.partial = (self.partial + data).split(b"\n")
        for line in lines:
            self.line(line)
        if self.partial and (len(self.partial) >= LONGEST_LINE or not data):
            self.line(self.partial)
            self.partial = b""
        return bool(data)

    def rest(self, pipe):
        """Reads to the end; a process that was not killed may hold it open."""
        by = time.monotonic() + DRAIN_S
        while time.monotonic() < by:
            readable, _, _ = select.select([pipe], [], [], DRAIN_S)
            if not readable or not self.take(pipe):
                return

    def line(self, line):
        for secret in self.secrets:
            line = line.replace(secret, b"***")
        self.count += 1
        self.write(str(self.count).encode(), line)

    def write(self, number, text):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
        data = now.encode() + b"Z " + number + b" " + text + b"\n"
        try:
            while data:
                data = data[os.write(1, data) :]
        except OSError:
            # A full disk loses lines, not the replica.
            pass


class PortLock:
    """A port of this node, for as long as any process has the file open."""

    def __init__(self, port, file):
        self.port = port
        self.file = file


def take_port(host, first, last):
    folder = os.path.join(tempfile.gettempdir(), "twinyard-ports-{}".format(os.getuid()))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in range(first, last + 1):
        file = os.open(os.path.join(folder, "{}-{}".format(host.replace(":", "_"), port)), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, port))
            return PortLock(port, file)
        except OSError as error:
            os.close(file)
            if error.errno == errno.EADDRNOTAVAIL:
                raise
    return None


def kill_marked(job, log):
    """Kills every process of the replica: those that carry its mark."""
    mark = "{}={}".format(MARK, job).encode()
    by = time.monotonic() + KILL_S
    while True:
        left = marked(mark)
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if time.monotonic() > by:
            log.event({"left": left})
            return
        time.sleep(0.02)


def marked(mark):
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/{}/environ".format(name), "rb") as file:
                if mark in file.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            # It has ended, or belongs to another user.
            pass
    return found


if __name__ == "__main__":
    sys.exit(main())
