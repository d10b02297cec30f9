/** A server in front of a partner of the service that behaves as badly as the test says. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

/**
 * slow: accepts and does not answer. reset: ends each connection. html: answers as a web page. cut: the answer ends in its middle. noise: what it
 * answers is not its protocol. endless: the answer does not end.
 */
export type BadAnswer = 'slow' | 'reset' | 'html' | 'cut' | 'noise' | 'endless';

export interface BadPartner {
  port: number;
  /** From now on, also on connections that are open; null = it works. */
  behave(badly: BadAnswer | null): void;
  /** Connections that met the bad answer since `behave`. */
  met(): number;
  /** Connections to the partner itself that `behave` has ended: what was under way on them may have been done, and its answer is lost. */
  ended(): number;
  /** Bytes of the longest endless answer that the other side has accepted. */
  sent(): number;
  close(): Promise<void>;
}

/** Where nobody ends it: far more than any answer that is read. */
const ENDLESS_BYTES = 96 * 1024 * 1024;
const CHUNK = Buffer.alloc(256 * 1024, 'a');
const PAGE = '<html><body>Welcome to the router</body></html>';
const head = (type: string, bytes: number) =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${bytes}\r\nconnection: close\r\n\r\n`;

/** The beginning of each answer over HTTP, and of the first line of a mail server. */
const BEGINNINGS: Record<'http' | 'smtp', Record<Exclude<BadAnswer, 'slow' | 'reset'>, string>> = {
  http: {
    html: `${head('text/html', PAGE.length)}${PAGE}`,
    cut: `${head('application/json', 1_000)}{"ok":true,"response":{"`,
    noise: 'SSH-2.0-OpenSSH_9.2\r\n\r\n',
    endless: `${head('application/json', 2 * ENDLESS_BYTES)}{"ok":true,"result":"`,
  },
  smtp: { html: `${PAGE}\r\n`, cut: '220 te', noise: 'SSH-2.0-OpenSSH_9.2\r\n', endless: '220 ' },
};

/** @param target port of the partner on loopback; a mail server speaks first */
export async function badPartner(target: number, protocol: 'http' | 'smtp' = 'http'): Promise<BadPartner> {
  let badly: BadAnswer | null = null;
  let met = 0;
  let sent = 0;
  let ended = 0;
  const open = new Set<Socket>();
  const track = (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy());
  };
  const endless = function* (socket: Socket) {
    for (let bytes = 0; bytes < ENDLESS_BYTES && !socket.destroyed; bytes += CHUNK.length) {
      sent = Math.max(sent, bytes);
      yield CHUNK;
    }
  };
  const answer = (socket: Socket, how: BadAnswer) => {
    if (how === 'slow') return;
    if (how === 'reset') return socket.resetAndDestroy();
    socket.write(BEGINNINGS[protocol][how]);
    if (how === 'endless') pipeline(endless(socket), socket, () => undefined);
    else socket.end();
  };
  const server = createServer((client) => {
    track(client);
    if (badly !== null) {
      const how = badly;
      met += 1;
      if (protocol === 'smtp' || how === 'reset') answer(client, how);
      else client.once('data', () => answer(client, how));
      client.resume();
      return;
    }
    const partner = connect(target, '127.0.0.1');
    track(partner);
    client.pipe(partner).pipe(client);
    client.on('close', () => partner.destroy());
    partner.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    behave: (how) => {
      // It works already, and so do its connections.
      if (how === null && badly === null) return;
      if (badly === null) ended += open.size;
      badly = how;
      met = 0;
      sent = 0;
      for (const socket of open) socket.destroy();
    },
    met: () => met,
    ended: () => ended,
    sent: () => sent,
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
