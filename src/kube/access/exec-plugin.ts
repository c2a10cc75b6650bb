import { spawn } from 'node:child_process';
import { pluginFailed } from '../errors.js';
import type { Credential, Credentials } from './kube-access.js';

/** The `exec` part of a kubeconfig's user. */
export interface PluginCommand {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Given to the plugin in KUBERNETES_EXEC_INFO where it asks for it; null where it does not. */
  readonly cluster: object | null;
}

const TIMEOUT_MS = 60_000;
/** A credential is renewed this long before it expires. */
const EARLY_MS = 30_000;
const MOST_OUTPUT = 1 << 20;

/** A program that prints credentials, as cloud providers have it (client.authentication.k8s.io, v1 and v1beta1). */
export class ExecPlugin implements Credentials {
  readonly #command: PluginCommand;
  readonly #nowMs: () => number;
  #last: { credential: Credential; untilMs: number } | null = null;
  /** One run at a time: what waits for it shares its result. */
  #running: Promise<Credential> | null = null;

  constructor(command: PluginCommand, nowMs: () => number = Date.now) {
    this.#command = command;
    this.#nowMs = nowMs;
  }

  read(isRefused: boolean): Promise<Credential> {
    const last = this.#last;
    if (last !== null && !isRefused && this.#nowMs() < last.untilMs) return Promise.resolve(last.credential);
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(): Promise<Credential> {
    const { command } = this.#command;
    const status = statusOf(command, await output(this.#command));
    const { clientCertificateData: cert, clientKeyData: key, expirationTimestamp, token } = status;
    if (token === undefined && (cert === undefined || key === undefined)) {
      throw pluginFailed(command, 'it returned neither a token nor a certificate with its key');
    }
    const credential: Credential = {
      authorization: token === undefined ? null : `Bearer ${token}`,
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
    };
    const expiresMs = expirationTimestamp === undefined ? Number.NaN : Date.parse(expirationTimestamp);
    this.#last = { credential, untilMs: Number.isNaN(expiresMs) ? Number.POSITIVE_INFINITY : expiresMs - EARLY_MS };
    return credential;
  }
}

interface PluginStatus {
  token?: string;
  clientCertificateData?: string;
  clientKeyData?: string;
  expirationTimestamp?: string;
}

function statusOf(command: string, text: string): PluginStatus {
  try {
    const { kind, status } = JSON.parse(text) as { kind?: string; status?: PluginStatus };
    if (kind === 'ExecCredential' && typeof status === 'object' && status !== null) return status;
  } catch {
    // No JSON: the same message.
  }
  throw pluginFailed(command, 'it printed no ExecCredential');
}

function output({ apiVersion, args, cluster, command, env }: PluginCommand): Promise<string> {
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false, ...(cluster && { cluster }) } };
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    });
    let out = '';
    let problem = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.length > MOST_OUTPUT) child.kill();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      problem = `${problem}${text}`.slice(-500);
    });
    child.on('error', (error) => reject(pluginFailed(command, error.message)));
    child.on('close', (code, signal) => {
      if (code === 0) resolve(out);
      else reject(pluginFailed(command, problem.trim().split('\n').at(-1) || `it ended with ${code ?? signal}`));
    });
  });
}
