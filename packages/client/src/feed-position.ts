/** Longer addresses are refused by proxies, and the service reads none that is longer. */
const MAX_LENGTH = 6_000;

/** Up to where a feed has been received: the `id` of the last message, from which the next connection continues. */
export class FeedPosition {
  #id: string | null;
  /** The user that the service named in its last greeting. */
  #userId: unknown;

  constructor(id: string | null = null) {
    this.#id = id;
  }

  /** The next connection begins again. */
  forget(): void {
    this.#id = null;
    this.#userId = undefined;
  }

  /** The address with which the service sends what was missed. */
  urlAfter(url: string): string {
    if (this.#id === null) return url;
    return `${url}${url.includes('?') ? '&' : '?'}after=${encodeURIComponent(this.#id)}`;
  }

  /** Reads the first message of a connection. @returns whether it continues where the last one of the same user ended */
  greeted({ resumed, user_id: userId }: Record<string, unknown>): boolean {
    const isOfSameUser = this.#userId === undefined || this.#userId === userId;
    this.#userId = userId;
    // A service that sends no ids does not know the stored one either.
    this.#id = null;
    return resumed === true && isOfSameUser;
  }

  /** @param message every one, the greeting too; an answer to a ping has no id */
  received({ id }: Record<string, unknown>): void {
    if (typeof id === 'string') this.#id = id.length > MAX_LENGTH ? null : id;
  }
}
