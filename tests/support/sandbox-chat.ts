import { expect } from 'vitest';
import type { Conversation } from '../../packages/sandbox/src/messenger/conversations.ts';
import type { SandboxMessage, SandboxMessengerUser } from '../../packages/sandbox/src/messenger/messenger-state.ts';
import { eventually } from './eventually.ts';

/** A person in the chat of the sandbox page, by its HTTP interface. What is looked for comes after what the person did last. */
export interface SandboxChat {
  id: number;
  say(text: string): Promise<void>;
  sendPhoto(photo: Buffer, caption: string): Promise<void>;
  /** Presses the button as soon as a message has it. */
  press(data: string): Promise<void>;
  /** Waits for a message of the bot with this button. */
  sees(data: string): Promise<SandboxMessage>;
  /** Waits for a message of the bot. */
  sends(isWanted: (message: SandboxMessage) => boolean): Promise<SandboxMessage>;
  /** Waits for a button with an address. */
  link(address: RegExp): Promise<string>;
  /** Pays on the payment page behind the link. */
  payPage(link: string): Promise<void>;
  /** @returns the status of the invoice */
  payStars(link: string): Promise<string>;
  /** The messenger delivers the latest update once more. */
  repeat(): Promise<void>;
  /** The last message of the chat, whoever wrote it. */
  latest(): Promise<SandboxMessage | undefined>;
  /** Waits until the bot has answered the latest message of the person. */
  settled(): Promise<void>;
}

export async function sandboxChat(serviceUrl: string, person: SandboxMessengerUser): Promise<SandboxChat> {
  const { id } = person;
  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const headers = { 'x-sandbox-page': '1', 'content-type': 'application/json' };
    const response = await fetch(`${serviceUrl}/sandbox/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    expect(response.status, `${path}: ${text}`).toBe(200);
    return JSON.parse(text);
  };
  const act = (action: string, body: unknown) => post(`/chats/${id}/${action}`, body);
  const messages = async (): Promise<SandboxMessage[]> => {
    const response = await fetch(`${serviceUrl}/sandbox/api/chats/${id}`);
    return ((await response.json()) as Conversation).messages;
  };
  const sends = (isWanted: (message: SandboxMessage) => boolean) =>
    eventually(async () => {
      const found = (await messages()).findLast((message) => message.senderId === undefined && isWanted(message));
      if (!found) throw new Error(`No such message; the last is ${JSON.stringify((await messages()).at(-1))}`);
      return found;
    });
  const sees = (data: string) => sends(({ buttons }) => buttons.flat().some((button) => button.callback_data === data));
  await post('/chats', person);

  return {
    id,
    sends,
    sees,
    say: async (text) => void (await act('messages', { text })),
    sendPhoto: async (photo, caption) => void (await act('messages', { photo: photo.toString('base64'), caption })),
    press: async (data) => void (await act('presses', { message_id: (await sees(data)).messageId, data })),
    link: async (address) => {
      const isWanted = ({ url }: { url?: string }) => url !== undefined && address.test(url);
      const { buttons } = await sends((message) => message.buttons.flat().some(isWanted));
      return buttons.flat().find(isWanted)?.url ?? '';
    },
    payPage: async (link) => void (await post(`/payments/${link.split('/').at(-1)}/pay`, {})),
    payStars: async (link) => String((await act('payments', { link })).status),
    repeat: async () => void (await act('repeats', {})),
    latest: async () => (await messages()).at(-1),
    settled: () =>
      eventually(async () => {
        expect((await messages()).at(-1)?.senderId).toBe(undefined);
      }),
  };
}
