import type { Duplex } from 'node:stream';

/** Reads exact numbers of bytes from a stream that nobody else reads meanwhile; what was received beyond them stays in it. */
export class ByteReader {
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
      // At its end a stream gives what is left, which may be less.
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
