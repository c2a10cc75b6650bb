/** How a cluster is reached: plain data, and where the credentials come from. */
export interface KubeAccess {
  /** Scheme, host and port, and a path where a proxy needs one; without a slash at the end. */
  readonly server: string;
  /** PEM; null: the certificates that Node.js trusts. */
  readonly ca: string | null;
  readonly skipsTlsVerify: boolean;
  /** The name in the server's certificate where it is not that of the address. */
  readonly tlsServerName: string | null;
  /** Used where a target gives no namespace. */
  readonly namespace: string;
  readonly credentials: Credentials;
}

/** What proves who we are. Read before each connection or request, so that rotated tokens and certificates take effect. */
export interface Credentials {
  /** @param isRefused the API server did not accept the last one: do not use a cached one */
  read(isRefused: boolean): Promise<Credential>;
}

export interface Credential {
  /** The value of the `authorization` header; null with none. */
  readonly authorization: string | null;
  /** PEM of a client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
}

export const bearer = (token: string): Credential => ({ authorization: `Bearer ${token.trim()}` });
