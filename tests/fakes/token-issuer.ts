/** An OpenID Connect issuer on loopback: publishes its keys and signs tokens with nothing but `node:crypto`. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { jsonReply, type LoopbackServer, startLoopbackServer } from '../../packages/sandbox/src/loopback-server.ts';

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

export interface TokenIssuer {
  server: LoopbackServer;
  /** Calls to the key address. */
  keyRequests: () => number;
  /** Status of the key address; 200 unless set. */
  knobs: { status: number; keys: object[] | null };
  publicKey: KeyObject;
  /** A new key of this id; the ones before stay published. */
  rotate(keyId: string): void;
  /** Signs with the newest key. */
  token(claims: Record<string, unknown>, header?: Record<string, unknown>): string;
  /** The same with a signature made by somebody who knows only what is published, or by nobody. */
  forged(claims: Record<string, unknown>, algorithm: 'none' | 'HS256' | 'other-key'): string;
  close(): Promise<void>;
}

export async function startTokenIssuer(): Promise<TokenIssuer> {
  const pairs: { id: string; privateKey: KeyObject; publicKey: KeyObject }[] = [];
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const knobs: TokenIssuer['knobs'] = { status: 200, keys: null };
  let requests = 0;
  const rotate = (id: string) => void pairs.unshift({ id, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) });
  rotate('k1');
  const server = await startLoopbackServer(async (request) => {
    if (request.path !== '/.well-known/jwks.json') return jsonReply(404, {});
    requests += 1;
    if (knobs.status !== 200) return jsonReply(knobs.status, {});
    const published = pairs.map(({ id, publicKey }) => ({
      ...publicKey.export({ format: 'jwk' }),
      kid: id,
      use: 'sig',
      alg: 'RS256',
    }));
    return jsonReply(200, { keys: knobs.keys ?? published });
  });
  const signed = (header: object, claims: object, key: KeyObject) => {
    const text = `${part(header)}.${part(claims)}`;
    return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`;
  };
  return {
    server,
    knobs,
    rotate,
    keyRequests: () => requests,
    get publicKey() {
      return pairs[0]!.publicKey;
    },
    token: (claims, header = {}) =>
      signed({ alg: 'RS256', kid: pairs[0]!.id, typ: 'JWT', ...header }, claims, pairs[0]!.privateKey),
    forged: (claims, algorithm) => {
      const kid = pairs[0]!.id;
      if (algorithm === 'other-key') return signed({ alg: 'RS256', kid }, claims, stranger.privateKey);
      const text = `${part({ alg: algorithm, kid, typ: 'JWT' })}.${part(claims)}`;
      const pem = pairs[0]!.publicKey.export({ format: 'pem', type: 'spki' });
      return algorithm === 'none' ? `${text}.` : `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
    },
    close: () => server.close(),
  };
}
