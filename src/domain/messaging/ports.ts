/** Messenger and mail as the domain sees them (spec 05 sections 9.3, 11.1 and 15; Stars: spec 03 section 2.5). */
import type { App } from '../../core/app.ts';

/**
 * `blocked`: the user blocked the bot or is deactivated. `rejected`: the messenger refuses this request. `rate_limited` and `unavailable`
 * may be tried again; an unreadable answer counts as `unavailable`.
 */
export type MessengerFailure =
  | { kind: 'blocked' }
  | { kind: 'chat_not_found' }
  | { kind: 'rate_limited'; retryAfterSeconds: number }
  | { kind: 'rejected' }
  /**
   * `mayHaveArrived`: there was no answer, but the request may have been carried out. `isTokenRefused`: the bot's token is wrong or was
   * revoked, which says nothing about the request; it is worth trying again because an operator is expected to set a new one.
   */
  | { kind: 'unavailable'; mayHaveArrived?: true; isTokenRefused?: true }
  | { kind: 'not_configured' };

export class MessengerError extends Error {
  readonly failure: MessengerFailure;

  constructor(failure: MessengerFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'MessengerError';
    this.failure = failure;
  }
}

/** One button under a message: a link, a mini-app, or data that is returned in a `callback` update (1 to 64 bytes). */
export type MessengerButton = { text: string } & ({ url: string } | { webAppUrl: string } | { callbackData: string });

export type MediaKind = 'photo' | 'video' | 'document';

/** A file that the messenger stores already, or its content. */
export type MessengerFile = { fileId: string } | { name: string; contentType: string; bytes: Uint8Array };

export interface SendOptions {
  /** Rows of buttons. */
  buttons?: readonly (readonly MessengerButton[])[];
  /** Topic of a group. */
  threadId?: number;
  /** The caller has leased the time of this message: it does not wait for the shared pace again. */
  isPaced?: boolean;
  /** The recipient hears no sound. */
  isSilent?: boolean;
}

export interface StarsInvoice {
  /** 1 to 32 characters; longer is cut. */
  title: string;
  /** 1 to 255 characters; longer is cut. */
  description: string;
  /** Returned at pre-checkout and with the payment; 1 to 128 bytes. */
  payload: string;
  /** Whole stars, at least 1. */
  stars: number;
}

/** A transfer of Stars to or from the bot, as the messenger lists it. */
export interface StarsTransfer {
  /** `payment` of an invoice and its `refund`; `other` = gifts, withdrawals and whatever else is no payment here. */
  kind: 'payment' | 'refund' | 'other';
  /** That of the payment, also of its refund. */
  chargeId: string;
  /** Null unless the transfer is with a person. */
  payerMessengerId: number | null;
  /** Of the invoice; null where the messenger does not say it. */
  payload: string | null;
  stars: number;
  /** UTC. */
  at: Date;
}

type ChatMemberStatus = 'creator' | 'administrator' | 'member' | 'restricted' | 'left' | 'kicked';

export interface ChatMember {
  status: ChatMemberStatus;
  /** Whether the user is in the chat now; a restricted user may be in or out. */
  isMember: boolean;
}

/** An incoming messenger update in the domain's form. `updateId` is unique for a bot, so that an update is processed once. */
export type MessengerUpdate = { updateId: number } & (
  | ({ kind: 'pre_checkout'; queryId: string; payerMessengerId: number; payload: string; amountStars: number } & OtherCurrency)
  | ({ kind: 'stars_paid'; chargeId: string; payerMessengerId: number; payload: string; stars: number } & OtherCurrency)
  | ({ kind: 'stars_refunded'; chargeId: string; payerMessengerId: number; payload: string; stars: number } & OtherCurrency)
  | { kind: 'callback'; queryId: string; fromMessengerId: number; chatId: number | null; messageId: number | null; data: string }
  | { kind: 'message'; chatId: number; messageId: number; from: MessengerSender; text: string; startParameter: string | null }
  | { kind: 'membership'; chatId: number; memberMessengerId: number; member: ChatMember }
  | { kind: 'ignored' }
);

/** Present where the money is not Stars: its code, upper case; the amount is then in its minor units, and never credited. */
export interface OtherCurrency {
  otherCurrency?: string;
}

export interface MessengerSender {
  messengerId: number;
  username: string | null;
  firstName: string;
  lastName: string | null;
  /** IETF tag as the messenger names it, for example `ru`. */
  languageCode: string | null;
}

export interface MessengerWebhookRequest {
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  rawBody: Buffer;
}

export type MessengerWebhookResult =
  | { accepted: true; update: MessengerUpdate; reply: { status: number; body: string } }
  | { accepted: false; reply: { status: number; body: string } };

/** Names of the messenger's HTML that are its own. */
export interface MessengerMarkup {
  /** Tag of text that is covered until it is touched; as a class of `span` it means the same. */
  readonly spoilerTag: string;
  /** Tag of an emoji of the messenger's own. */
  readonly emojiTag: string;
  readonly emojiIdAttribute: string;
  /** Scheme of links into the messenger's app, without a colon. */
  readonly linkScheme: string;
}

/** Each call throws MessengerError. */
export interface MessengerPort {
  readonly markup: MessengerMarkup;
  isConfigured(): boolean;
  /** Web address of a person or bot with this public name (without `@`). */
  linkTo(username: string): string;
  /**
   * @param chatId messenger id of a user, or of a group or channel (negative)
   * @param html text in the messenger's HTML with escaped values (`htmlText`)
   */
  sendMessage(chatId: number, html: string, options?: SendOptions): Promise<{ messageId: number }>;
  /**
   * A file with a caption in the messenger's HTML, at most 1024 visible characters (empty = none). The messenger accepts pictures of up to
   * 10 MB and other files of up to 50 MB.
   * @returns also the messenger's ids of the file, by which it can be sent again; null when the answer names none
   */
  sendFile(
    chatId: number,
    kind: MediaKind,
    file: MessengerFile,
    html: string,
    options?: SendOptions,
  ): Promise<{ messageId: number; fileId: string | null; fileUniqueId: string | null }>;
  /** Whether the file can be fetched from the messenger now. */
  hasFile(fileId: string): Promise<boolean>;
  /** Content of a file and the last part of its path at the messenger; null for an unknown file and one of more than 20 MB. */
  downloadFile(fileId: string): Promise<{ name: string; bytes: Buffer } | null>;
  deleteMessage(chatId: number, messageId: number): Promise<void>;
  /** Pins a message above the chat, without a sound. Pinning it again changes nothing. */
  pinMessage(chatId: number, messageId: number): Promise<void>;
  /** Unpins this message; others stay pinned. Refused where the chat has no such message. */
  unpinMessage(chatId: number, messageId: number): Promise<void>;
  /** Link that opens a Stars invoice (currency `XTR`). */
  createStarsInvoiceLink(invoice: StarsInvoice): Promise<string>;
  /** Refunds the Stars of a charge to its payer. A charge that was given back before counts as done. */
  refundStars(payerMessengerId: number, chargeId: string): Promise<void>;
  /**
   * Transfers of Stars in the order of time, oldest first.
   * @param offset how many to skip
   * @param limit 1 to 100
   */
  listStarsTransfers(offset: number, limit: number): Promise<StarsTransfer[]>;
  /** Answers a pre-checkout query, within 10 s of it. `errorText` is shown to the payer when not ok. */
  answerPreCheckout(queryId: string, ok: boolean, errorText?: string): Promise<void>;
  answerCallback(queryId: string, text?: string): Promise<void>;
  getChatMember(chatId: number | string, messengerId: number): Promise<ChatMember>;
  /** Messenger id of the person with this public name (without `@`); null when the messenger does not return one. */
  findPerson(username: string): Promise<number | null>;
  getMe(): Promise<{ messengerId: number; username: string; firstName: string }>;
  /** Registers the address for updates; each update has the secret in a header. */
  setWebhook(url: string): Promise<void>;
  /** The registered address for updates; null when there is none. */
  readWebhook(): Promise<string | null>;
  /** Checks the secret of a request on the messenger webhook in constant time, then parses it. Without a secret all are refused. */
  receiveUpdate(request: MessengerWebhookRequest): MessengerWebhookResult;
}

/** `put_off`: the server accepts no mail for this recipient at present, but may take those of others. */
export type MailFailure = 'unavailable' | 'put_off' | 'rejected' | 'not_configured';

export class MailError extends Error {
  readonly failure: MailFailure;
  /** Of `unavailable`: the server had the mail, and its answer was lost. */
  readonly mayHaveArrived: boolean;

  constructor(failure: MailFailure, message: string, options: { cause?: unknown; mayHaveArrived?: boolean } = {}) {
    super(message, { cause: options.cause });
    this.name = 'MailError';
    this.failure = failure;
    this.mayHaveArrived = options.mayHaveArrived ?? false;
  }
}

export interface Mail {
  to: string;
  subject: string;
  html: string;
  text: string;
  /** Header fields beside those of every mail. */
  headers?: Readonly<Record<string, string>>;
}

export interface MailPort {
  isConfigured(): boolean;
  /** Resolves when the server has accepted the mail. @throws MailError: `rejected` = do not retry, `unavailable` and `put_off` = try later */
  send(mail: Mail): Promise<void>;
  /** Closes pooled connections at shut-down. */
  close(): void;
}

/** Files of this service for the messenger; implemented by the module `media`, which comes later. */
export interface MessengerFiles {
  /** What to send for a file id: of this service, or of the messenger itself. @throws MessengerError `unavailable` while the storage is away */
  resolve(app: App, fileId: string): Promise<MessengerFile>;
  /** Stores the messenger's id, so that the content is uploaded once. */
  remember(app: App, fileId: string, messengerFileId: string): Promise<void>;
}

declare module '../../core/app.ts' {
  interface Ports {
    messenger: MessengerPort;
    messengerFiles: MessengerFiles;
    mail: MailPort;
  }
}
