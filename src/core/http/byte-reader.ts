import type { Duplex } from 'node:stream';

/** Reads exact numbers of bytes from a stream; what was received beyond them stays for the next reader. */
export class ByteReader {
  readonly #stream: Duplex;
  #buffer: Buffer = Buffer.alloc(0);
  #failure: Error | null = null;
  #wake: () => void = () => undefined;
  readonly #onData = (chunk: Buffer) => {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    this.#wake();
  };
  readonly #onEnd = () => this.#fail(new Error('The connection was closed'));
  readonly #onError = (error: Error) => this.#fail(error);

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onEnd).on('error', this.#onError);
  }

  /** @throws Error when the stream ends before */
  async read(count: number): Promise<Buffer> {
    while (this.#buffer.length < count) await this.#more();
    return this.#take(count);
  }

  /** Ends the reading; the stream is paused, and what was not read is back in it. */
  release(): void {
    this.#stream.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onEnd).off('error', this.#onError);
    this.#stream.pause();
    if (this.#buffer.length > 0) this.#stream.unshift(this.#buffer);
  }

  #take(count: number): Buffer {
    const taken = this.#buffer.subarray(0, count);
    this.#buffer = this.#buffer.subarray(count);
    return taken;
  }

  async #more(): Promise<void> {
    if (this.#failure) throw this.#failure;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#failure && this.#buffer.length === 0) throw this.#failure;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }
}
