import { type ClientRequestArgs, Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

/** The proxy could not be reached, or refused to connect: nothing was sent to the destination. The message names no host. */
export class ProxyError extends Error {
  readonly code = 'EPROXY';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ProxyError';
  }
}

export interface TunnelTarget {
  host: string;
  port: number;
}

interface Proxy extends TunnelTarget {
  protocol: string;
  user: string;
  password: string;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'socks4:': 1080,
  'socks5:': 1080,
  'socks5h:': 1080,
};

/**
 * Opens a connection to a host through a proxy: SOCKS (`socks5:`, `socks5h:` or `socks4:`), or HTTP with CONNECT (`http:`, or `https:` for
 * TLS to the proxy itself). In all of them the proxy resolves the name of the host: the name of a service that is reachable from one country
 * only may be resolved wrongly elsewhere.
 * @param proxyUrl with user name and password, where the proxy asks for them
 * @param timeoutMs for everything up to the open tunnel
 * @throws ProxyError
 */
export async function openTunnel(proxyUrl: string, target: TunnelTarget, timeoutMs: number): Promise<Duplex> {
  const proxy = readProxyUrl(proxyUrl);
  if (proxy.protocol === 'http:' || proxy.protocol === 'https:') return connectByHttp(proxy, target, timeoutMs);
  return connectBySocks(proxy, target, timeoutMs);
}

function readProxyUrl(text: string): Proxy {
  const url = URL.canParse(text) ? new URL(text) : null;
  const defaultPort = DEFAULT_PORTS[url?.protocol ?? ''];
  if (!url || defaultPort === undefined || url.hostname === '') throw new ProxyError('The proxy address is not usable');
  return {
    protocol: url.protocol,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? defaultPort : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  };
}

/** RFC 9110 section 9.3.6; the password goes by the scheme Basic. */
function connectByHttp(proxy: Proxy, { host, port }: TunnelTarget, timeoutMs: number): Promise<Duplex> {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const credentials = Buffer.from(`${proxy.user}:${proxy.password}`).toString('base64');
  const request = (proxy.protocol === 'https:' ? requestHttps : requestHttp)({
    host: proxy.host,
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...(proxy.user === '' ? {} : { 'proxy-authorization': `Basic ${credentials}` }) },
    agent: false,
  });
  return new Promise<Duplex>((resolve, reject) => {
    const timer = setTimeout(() => request.destroy(new ProxyError('The proxy took too long')), timeoutMs);
    request.once('close', () => clearTimeout(timer));
    request.once('error', (error) =>
      reject(error instanceof ProxyError ? error : new ProxyError('The proxy could not be used', error)),
    );
    // An answer other than 2xx to CONNECT comes as `connect` too.
    request.once('connect', (response, socket, head) => {
      clearTimeout(timer);
      const { statusCode = 0 } = response;
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(
        new ProxyError(statusCode === 407 ? 'The proxy refuses the credentials' : `The proxy could not connect (${statusCode})`),
      );
    });
    request.end();
  });
}

/** Both versions (4 as 4a) give the proxy the name of the host. */
async function connectBySocks(proxy: Proxy, destination: TunnelTarget, timeoutMs: number): Promise<Duplex> {
  const { protocol, host, port, user, password } = proxy;
  // The library does not check them, and would throw in a handler of the socket, where nobody catches it.
  if ([user, password].some((text) => Buffer.byteLength(text) > 255))
    throw new ProxyError('The credentials of the proxy are too long');
  const credentials = user === '' ? {} : { userId: user, password };
  const options = { host, port, type: protocol === 'socks4:' ? 4 : 5, ...credentials } as const;
  // Loaded when it is needed: few installations have such a proxy.
  const { SocksClient } = (await import('socks')).default;
  try {
    return (await SocksClient.createConnection({ command: 'connect', proxy: options, destination, timeout: timeoutMs })).socket;
  } catch (error) {
    // The error itself is not passed on: it holds the credentials.
    const { message } = error as Error;
    const [, fault] = SOCKS_FAULTS.find(([pattern]) => pattern.test(message)) ?? [];
    throw new ProxyError(fault ?? 'The proxy could not be used', new Error(message));
  }
}

/** Messages of the library, which has no codes, as those of this module. */
const SOCKS_FAULTS: readonly [RegExp, string][] = [
  [/no accepted authentication/, 'The proxy asks for credentials'],
  [/Authentication failed/, 'The proxy refuses the credentials'],
  [/rejected connection/, 'The proxy could not connect'],
  [/timed out/, 'The proxy took too long'],
];

/** As Node declares it; after an error it gets no stream. */
type ConnectCallback = (error: Error | null, stream: Duplex) => void;

function hand(stream: Promise<Duplex>, callback: ConnectCallback | undefined): void {
  stream.then(
    (ready) => callback?.(null, ready),
    (error: Error) => (callback as ((error: Error) => void) | undefined)?.(error),
  );
}

interface ProxyOptions {
  proxyUrl: string;
  /** For the tunnel, and again for the TLS handshake through it. */
  connectTimeoutMs: number;
}

function targetOf(options: ClientRequestArgs): { host: string; port: number } {
  return { host: String(options.host ?? options.hostname ?? ''), port: Number(options.port) };
}

class TunnelledHttpAgent extends HttpAgent {
  readonly #proxy: ProxyOptions;

  constructor(proxy: ProxyOptions) {
    super({ keepAlive: false });
    this.#proxy = proxy;
  }

  override createConnection(options: ClientRequestArgs, callback?: ConnectCallback): undefined {
    hand(openTunnel(this.#proxy.proxyUrl, targetOf(options), this.#proxy.connectTimeoutMs), callback);
  }
}

class TunnelledHttpsAgent extends HttpsAgent {
  readonly #proxy: ProxyOptions;

  constructor(proxy: ProxyOptions) {
    super({ keepAlive: false });
    this.#proxy = proxy;
  }

  override createConnection(options: ClientRequestArgs, callback?: ConnectCallback): undefined {
    const { proxyUrl, connectTimeoutMs } = this.#proxy;
    const tunnel = openTunnel(proxyUrl, targetOf(options), connectTimeoutMs);
    hand(
      tunnel.then((stream) => secured(stream, options, connectTimeoutMs)),
      callback,
    );
  }
}

/** The TLS session with the destination inside of the tunnel; the proxy sees nothing of it. */
function secured(stream: Duplex, options: ClientRequestArgs, timeoutMs: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const { host } = targetOf(options);
    const secure = connectTls({ ...(options as ConnectionOptions), host, socket: stream });
    const timer = setTimeout(() => secure.destroy(new ProxyError('The handshake through the proxy took too long')), timeoutMs);
    secure.once('secureConnect', () => {
      clearTimeout(timer);
      resolve(secure);
    });
    secure.once('error', (error) => {
      clearTimeout(timer);
      reject(error instanceof ProxyError ? error : new ProxyError('The handshake through the proxy failed', error));
    });
  });
}

/**
 * Agents for one client that may have to go through a proxy; a new address takes effect with the next call. Connections through a proxy are
 * not kept.
 * @param proxyUrl null = directly
 */
export function proxiedAgents(
  direct: (url: URL) => HttpAgent,
  options: { proxyUrl: () => string | null; connectTimeoutMs: number },
): (url: URL) => HttpAgent {
  const { connectTimeoutMs } = options;
  return (url) => {
    const proxyUrl = options.proxyUrl();
    if (proxyUrl === null) return direct(url);
    const proxy = { proxyUrl, connectTimeoutMs };
    return url.protocol === 'https:' ? new TunnelledHttpsAgent(proxy) : new TunnelledHttpAgent(proxy);
  };
}
