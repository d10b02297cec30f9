import { type ClientRequestArgs, Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { connect, isIPv4, isIPv6, type Socket } from 'node:net';
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
  const socket = connect({ host: proxy.host, port: proxy.port });
  const timer = setTimeout(() => socket.destroy(new ProxyError('The proxy took too long')), timeoutMs);
  const reader = new ByteReader(socket);
  try {
    await connected(socket);
    if (proxy.protocol === 'socks4:') await askSocks4(socket, reader, proxy, target);
    else await askSocks5(socket, reader, proxy, target);
    reader.release();
    return socket;
  } catch (error) {
    socket.destroy();
    throw error instanceof ProxyError ? error : new ProxyError('The proxy could not be used', error);
  } finally {
    clearTimeout(timer);
  }
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

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve());
    socket.once('error', reject);
    socket.once('close', () => reject(new ProxyError('The proxy closed the connection')));
  });
}

async function askSocks5(socket: Socket, reader: ByteReader, { user, password }: Proxy, target: TunnelTarget): Promise<void> {
  const methods = user === '' ? [0x00] : [0x00, 0x02];
  socket.write(Buffer.from([0x05, methods.length, ...methods]));
  const [version, method] = await reader.read(2);
  if (version !== 0x05) throw new ProxyError('The proxy speaks no SOCKS 5');
  if (method === 0x02 && user !== '') {
    const [name, secret] = [Buffer.from(user), Buffer.from(password)];
    if (name.length > 255 || secret.length > 255) throw new ProxyError('The credentials of the proxy are too long');
    socket.write(Buffer.concat([Buffer.from([0x01, name.length]), name, Buffer.from([secret.length]), secret]));
    const [, refused] = await reader.read(2);
    if (refused !== 0x00) throw new ProxyError('The proxy refuses the credentials');
  } else if (method !== 0x00) throw new ProxyError('The proxy asks for credentials');

  socket.write(Buffer.concat([Buffer.from([0x05, 0x01, 0x00]), socksAddress(target.host), portBytes(target.port)]));
  const [, reply, , kind] = await reader.read(4);
  if (reply !== 0x00) throw new ProxyError(`The proxy could not connect (${reply})`);
  const length = kind === 0x01 ? 4 : kind === 0x04 ? 16 : (await reader.read(1))[0]!;
  await reader.read(length + 2);
}

/** With the name of the host appended (SOCKS 4a), so that the proxy resolves it. */
async function askSocks4(socket: Socket, reader: ByteReader, { user }: Proxy, { host, port }: TunnelTarget): Promise<void> {
  const isAddress = isIPv4(host);
  const address = Buffer.from(isAddress ? host.split('.').map(Number) : [0, 0, 0, 1]);
  const name = isAddress ? Buffer.alloc(0) : Buffer.from(`${host}\0`);
  socket.write(Buffer.concat([Buffer.from([0x04, 0x01]), portBytes(port), address, Buffer.from(`${user}\0`), name]));
  const [, reply] = await reader.read(8);
  if (reply !== 0x5a) throw new ProxyError(`The proxy could not connect (${reply})`);
}

function socksAddress(host: string): Buffer {
  if (isIPv4(host)) return Buffer.from([0x01, ...host.split('.').map(Number)]);
  const name = Buffer.from(host);
  if (name.length > 255) throw new ProxyError('The name of the host is too long for the proxy');
  return Buffer.concat([Buffer.from([0x03, name.length]), name]);
}

function portBytes(port: number): Buffer {
  return Buffer.from([port >> 8, port & 0xff]);
}

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

/** Reads exact numbers of bytes from a stream that nobody else reads meanwhile; what was received beyond them stays in it. */
class ByteReader {
  readonly #stream: Duplex;
  #failure: Error | null = null;
  #wake: () => void = () => undefined;
  readonly #onReadable = () => this.#wake();
  readonly #onEnd = () => this.#fail(new Error('The connection was closed'));
  readonly #onError = (error: Error) => this.#fail(error);

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on('readable', this.#onReadable).on('end', this.#onEnd).on('close', this.#onEnd).on('error', this.#onError);
  }

  /** @throws Error when the stream ends before */
  async read(count: number): Promise<Buffer> {
    for (;;) {
      const bytes = this.#stream.read(count) as Buffer | null;
      // At its end a stream returns what is left, which may be less.
      if (bytes !== null && bytes.length === count) return bytes;
      if (bytes !== null) throw new Error('The connection was closed');
      if (this.#failure) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Ends the reading; the stream waits for its next reader. */
  release(): void {
    this.#stream.off('readable', this.#onReadable).off('end', this.#onEnd).off('close', this.#onEnd).off('error', this.#onError);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }
}
