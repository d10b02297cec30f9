import type { Conversation } from '../messenger/conversations.ts';
import type { SandboxMessengerUser, SentFile } from '../messenger/messenger-state.ts';

/** What the sandbox page shows and does; implemented where the sandbox servers are started. Money in whole kopeks, times in UTC. */

export interface ViewMail {
  id: number | string;
  to: string;
  subject: string;
  text: string;
  sentAt: string;
}

export interface ViewMessage {
  chatId: number;
  text: string;
  sentAt: string;
  buttons?: readonly (readonly { text: string; url?: string }[])[];
}

export interface ViewPanelUser {
  uuid: string;
  username: string;
  status: string;
  expireAt: string | null;
  trafficLimitBytes: number;
  subscriptionUrl: string | null;
}

export interface ViewSquad {
  uuid: string;
  name: string;
  members: number;
}

export interface ViewInvoice {
  id: string;
  method: string;
  status: string;
  amountKopeks: number;
  description: string;
  payUrl: string | null;
  createdAt: string;
}

/** What persons do in their chats with the bot; false or null = there is no such person, button, invoice or picture. */
export interface ViewChats {
  bot(): Promise<{ username: string; commands: readonly { command: string; description: string }[] }>;
  people(): Promise<readonly SandboxMessengerUser[]>;
  add(person: SandboxMessengerUser): Promise<void>;
  read(userId: number): Promise<Conversation | null>;
  sendText(userId: number, text: string): Promise<boolean>;
  sendPhoto(userId: number, photo: SentFile, caption: string): Promise<boolean>;
  press(userId: number, messageId: number, data: string): Promise<boolean>;
  pay(userId: number, link: string): Promise<{ status: string } | null>;
  repeat(userId: number): Promise<boolean>;
  file(fileId: string): { bytes: Buffer } | null;
}

/** Lists are newest first. */
export interface SandboxView {
  mail: { list(): Promise<readonly ViewMail[]> };
  messenger: {
    list(): Promise<readonly ViewMessage[]>;
    /** Whether a user has joined a channel; without it everybody has. */
    setMember(channelId: string, userId: number, isMember: boolean): Promise<void>;
  };
  chats: ViewChats;
  panel: { users(): Promise<readonly ViewPanelUser[]>; squads(): Promise<readonly ViewSquad[]> };
  payments: {
    list(): Promise<readonly ViewInvoice[]>;
    /** Each step returns whether the invoice allowed it. */
    pay(id: string): Promise<boolean>;
    fail(id: string): Promise<boolean>;
    refund(id: string): Promise<boolean>;
    /** How callbacks are delivered from now on: further copies of each, and paused until `flush`. */
    setDelivery(delivery: { duplicates: number; isPaused: boolean }): void;
    /** Delivers the paused callbacks, newest first. */
    flush(): Promise<void>;
  };
  clock: { now(): Date; advance(ms: number): Promise<void> };
}
