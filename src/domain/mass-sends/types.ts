import type { App } from '../../core/app.ts';
import type { Rows } from '../../core/db/columns.ts';

export type MassSend = Rows['MassSend'];
export type SendChannel = MassSend['channel'];

/** A recipient that a worker has claimed. Fields of the user are null where the account is gone. */
export interface ClaimedRecipient {
  userId: number;
  status: string | null;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  language: string | null;
  email: string | null;
  emailVerified: boolean | null;
  /** News were not switched off, until now. */
  wantsNews: boolean;
}

/**
 * `blocked`: the messenger does not deliver to the user. `failed`: refused, or unknown because no answer came. `unsent`: certainly not
 * delivered and to be sent again, `waitMs` from now at the earliest; the `reason` is for the log.
 */
export type SendOutcome =
  | { state: 'sent'; messageId: number | null }
  | { state: 'failed' | 'blocked' }
  /** This recipient is for later, whatever happens to others. */
  | { state: 'put_off'; reason: string }
  | { state: 'unsent'; waitMs: number; reason: string };

/** Sends the message to one recipient. Never throws for a failure of the messenger or the mail server. */
export type Deliver = (recipient: ClaimedRecipient) => Promise<SendOutcome>;

export interface SendKind {
  /**
   * Who gets it: an SQL condition over `AUDIENCE_TABLES`.
   * @param now SQL of the time at which it was requested
   */
  recipients(send: MassSend, now: string): string;
  /**
   * Whose message may be attempted again after a worker ended, because that puts no second message into the chat: an SQL condition over the
   * recipient `r`. Others are unconfirmed then (spec 10 O14).
   */
  repeatable: string;
  /**
   * Reads what is sent. Null = it cannot be sent at all, because nothing is configured for the channel or it was deleted; `later` = not
   * before another send has ended.
   */
  open(app: App, send: MassSend): Promise<Deliver | 'later' | null>;
  /** After progress, in a transaction where the send has changed its state. */
  announce(app: App, send: MassSend): Promise<void>;
}

export type SendKinds = Readonly<Record<MassSend['kind'], SendKind>>;
