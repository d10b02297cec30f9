import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

const FLAG = { userPresent: 0x01, userVerified: 0x04, hasKey: 0x40 };

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const base64url = (data: Buffer) => data.toString('base64url');

export interface PasskeyOptions {
  challenge: string;
}

/** An authenticator with one key pair (ES256, without attestation), as WebAuthn's answers have it. */
export class TestPasskey {
  readonly id = base64url(randomBytes(16));
  readonly origin: string;
  /** Signatures so far; a copy of the authenticator has its own. */
  count = 0;
  readonly #rpId: string;
  readonly #privateKey: KeyObject;
  readonly #coseKey: Buffer;

  constructor(origin = 'https://cabinet.example.com') {
    this.origin = origin;
    this.#rpId = new URL(origin).hostname;
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#privateKey = privateKey;
    const { x, y } = publicKey.export({ format: 'jwk' });
    // CBOR of {1: 2, 3: -7, -1: 1, -2: x, -3: y}.
    this.#coseKey = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x!, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y!, 'base64url'),
    ]);
  }

  /** As `toJSON()` of what `navigator.credentials.create` returns. */
  create({ challenge }: PasskeyOptions) {
    const id = Buffer.from(this.id, 'base64url');
    const length = Buffer.from([0, id.length]);
    const data = this.#authenticatorData(FLAG.hasKey, Buffer.concat([Buffer.alloc(16), length, id, this.#coseKey]));
    // CBOR of {fmt: 'none', attStmt: {}, authData: …}.
    const head = Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex');
    const attestationObject = Buffer.concat([head, Buffer.from([data.length]), data]);
    return this.#answer({
      clientDataJSON: base64url(this.#clientData('webauthn.create', challenge)),
      attestationObject: base64url(attestationObject),
      transports: ['usb'],
    });
  }

  /** As `toJSON()` of what `navigator.credentials.get` returns. */
  get({ challenge }: PasskeyOptions) {
    this.count += 1;
    const data = this.#authenticatorData(0, Buffer.alloc(0));
    const clientData = this.#clientData('webauthn.get', challenge);
    return this.#answer({
      clientDataJSON: base64url(clientData),
      authenticatorData: base64url(data),
      signature: base64url(sign('sha256', Buffer.concat([data, sha256(clientData)]), this.#privateKey)),
    });
  }

  #answer(response: Record<string, unknown>) {
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, response };
  }

  #clientData(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.origin, crossOrigin: false }));
  }

  #authenticatorData(flags: number, key: Buffer): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.count);
    return Buffer.concat([sha256(this.#rpId), Buffer.from([FLAG.userPresent | FLAG.userVerified | flags]), counter, key]);
  }
}
