import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

export interface SocksProxy {
  /** `127.0.0.1:{port}` */
  host: string;
  /** Destinations that were asked for, as named: `name:port`. */
  asked: string[];
  close(): Promise<void>;
}

/**
 * A SOCKS proxy on loopback (versions 5 and 4a) that leads every destination to `target`.
 * @param password where given, version 5 asks for the user `user` with it
 * @param isRefusing answers every destination with a refusal
 */
export async function startSocksProxy(options: {
  target: { host: string; port: number };
  password?: string;
  isRefusing?: boolean;
}): Promise<SocksProxy> {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    client.on('close', () => open.delete(client)).on('error', () => undefined);
    const chunks: Buffer[] = [];
    let step: 'greeting' | 'password' | 'request' = 'greeting';
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      const bytes = Buffer.concat(chunks);
      chunks.length = 0;
      if (step === 'greeting' && bytes[0] === 4) connectTo4(bytes);
      else if (step === 'greeting') {
        step = options.password === undefined ? 'request' : 'password';
        client.write(Buffer.from([5, options.password === undefined ? 0 : 2]));
      } else if (step === 'password') {
        const text = bytes.toString('latin1');
        const isRight = text === `\u0001\u0004user${String.fromCharCode(options.password!.length)}${options.password}`;
        step = 'request';
        client.write(Buffer.from([1, isRight ? 0 : 1]));
      } else {
        const name = bytes[3] === 3 ? bytes.subarray(5, 5 + bytes[4]!).toString() : [...bytes.subarray(4, 8)].join('.');
        asked.push(`${name}:${bytes.readUInt16BE(bytes.length - 2)}`);
        answer(Buffer.from([5, options.isRefusing ? 5 : 0, 0, 1, 0, 0, 0, 0, 0, 0]));
      }
    };
    const connectTo4 = (bytes: Buffer): void => {
      const end = bytes.indexOf(0, 8);
      const name = bytes.subarray(end + 1, -1).toString() || [...bytes.subarray(4, 8)].join('.');
      asked.push(`${name}:${bytes.readUInt16BE(2)}`);
      answer(Buffer.from([0, options.isRefusing ? 0x5b : 0x5a, 0, 0, 0, 0, 0, 0]));
    };
    const answer = (reply: Buffer): void => {
      client.off('data', onData);
      client.write(reply);
      if (options.isRefusing) return;
      const remote = connect(options.target);
      open.add(remote);
      remote.on('error', () => client.destroy());
      client.pipe(remote).pipe(client);
    };
    client.on('data', onData);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
