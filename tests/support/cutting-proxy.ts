import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy in front of the database server that cuts a connection at a chosen point. */
export interface CuttingProxy {
  /** Address of the database through the proxy. */
  url: string;
  /** The next connection that sends this statement is cut: before the server gets it, or after it was carried out. */
  cutAt(statement: string, when: 'before' | 'after'): void;
  /**
   * Answers of the server are lost from now on, without a reset, on all connections and on new ones; `false`: only those that have not lost
   * one work again. A connection that has lost an answer stays silent, as after a lost entry of an address translation.
   */
  swallow(isSilent: boolean): void;
  /** New connections are refused with this SQLSTATE, as by a server that has no room left for a session, and open ones are cut; null = no more. */
  refuse(code: string | null): void;
  /** How many connections were cut. */
  cuts(): number;
  close(): Promise<void>;
}

/** @param url address of a database on the server */
export async function startCuttingProxy(url: string): Promise<CuttingProxy> {
  const target = new URL(url);
  const open = new Set<Socket>();
  let plan: { marks: string[]; when: 'before' | 'after' } | null = null;
  let cuts = 0;
  let isSilent = false;
  let refusal: string | null = null;
  const server = createServer((client) => {
    if (refusal !== null) {
      const message = fatalError(refusal);
      client.on('error', () => undefined);
      client.once('data', () => client.end(message));
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    let isDoomed = false;
    let isLost = false;
    const cut = (): void => {
      cuts += 1;
      client.resetAndDestroy();
      upstream.destroy();
    };
    client.on('data', (data) => {
      if (plan?.marks.some((mark) => data.includes(mark))) {
        const { when } = plan;
        plan = null;
        if (when === 'before') return cut();
        isDoomed = true;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      isLost ||= isSilent;
      if (isDoomed) cut();
      else if (isLost) return;
      else client.write(data);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String((server.address() as AddressInfo).port);
  return {
    url: proxied.href,
    cutAt: (statement, when) => {
      // A connection that has prepared the statement before sends its name only.
      const name = `s_${createHash('sha1').update(statement).digest('hex').slice(0, 24)}`;
      plan = { marks: [statement, name], when };
    },
    swallow: (silent) => {
      isSilent = silent;
    },
    refuse: (code) => {
      refusal = code;
      if (code !== null) for (const socket of open) socket.destroy();
    },
    cuts: () => cuts,
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The message by which a server refuses a session at its start. */
function fatalError(code: string): Buffer {
  const fields = ['SFATAL', 'VFATAL', `C${code}`, 'Mcould not write init file', ''].map((field) => `${field}\0`).join('');
  const message = Buffer.alloc(5 + Buffer.byteLength(fields));
  message.write('E', 0, 'latin1');
  message.writeInt32BE(message.length - 1, 1);
  message.write(fields, 5);
  return message;
}
