import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Bytes that follow from the seed alone. */
function bytesOf(seed: string): (length: number) => Buffer {
  let block = Buffer.alloc(0);
  let count = 0;
  return (length) => {
    while (block.length < length) {
      count += 1;
      block = Buffer.concat([block, createHash('sha512').update(`${seed} ${count}`).digest()]);
    }
    const bytes = Buffer.from(block.subarray(0, length));
    block = block.subarray(length);
    return bytes;
  };
}

/**
 * While `work` runs, the random values of this process follow from the seed: the same work with the same seed gets the same ones. Nothing else may
 * run meanwhile, for it would take some of them.
 */
export async function withRepeatableChance<T>(seed: string, work: () => Promise<T>): Promise<T> {
  const bytes = bytesOf(seed);
  const uuid = () => {
    const hex = bytes(16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  const fill = <A extends ArrayBufferView>(view: A): A => {
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(bytes(view.byteLength));
    return view;
  };
  const seeded = {
    randomBytes(length: number, done?: (error: null, bytes: Buffer) => void) {
      const made = bytes(length);
      if (done) queueMicrotask(() => done(null, made));
      return made;
    },
    randomInt(first: number, second?: number) {
      const [min, max] = second === undefined ? [0, first] : [first, second];
      return min + Number(bytes(8).readBigUInt64BE() % BigInt(max - min));
    },
    randomUUID: uuid,
  };
  const { randomBytes, randomInt, randomUUID } = crypto;
  Object.assign(crypto, seeded);
  syncBuiltinESMExports();
  const { crypto: web } = globalThis;
  Object.defineProperties(web, {
    randomUUID: { value: uuid, configurable: true },
    getRandomValues: { value: fill, configurable: true },
  });
  try {
    return await work();
  } finally {
    Object.assign(crypto, { randomBytes, randomInt, randomUUID });
    syncBuiltinESMExports();
    for (const name of ['randomUUID', 'getRandomValues']) Reflect.deleteProperty(web, name);
  }
}
