import { type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { openTunnel, ProxyError } from './proxy-tunnel.ts';

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
