/** A refusal of the Bot API. */
export class BotApiRefusal extends Error {
  readonly status: number;
  readonly retryAfter: number | null;

  constructor(status: number, description: string, retryAfter: number | null = null) {
    super(description);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}
