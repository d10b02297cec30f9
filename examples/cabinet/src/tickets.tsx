import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useAccount } from './account-state.tsx';
import { type Attachment, addressOfFile, MAX_ATTACHMENT_BYTES, uploadAttachment } from './attachments.ts';
import { addressOf, openView } from './routes.ts';
import { client } from './service.ts';
import { Field, LoadedView, Outcome } from './states.tsx';
import { dateAndTime, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

type Message = Awaited<ReturnType<typeof client.api.tickets.get.query>>['messages'][number];

/** Questions to support. `#/tickets/12` shows one of them. */
export function Tickets({ argument }: { argument: string | null }) {
  const id = Number(argument);
  return Number.isInteger(id) && id > 0 ? <TicketView key={id} id={id} /> : <TicketList />;
}

function TicketList() {
  const texts = useTexts();
  const language = useLanguage();
  const { ticketChanges } = useAccount();
  const list = useLoaded(() => client.api.tickets.list.query({ per_page: 50 }), ticketChanges);
  return (
    <div className="columns">
      <section className="card" data-testid="tickets">
        <h2>{texts.myTickets}</h2>
        <LoadedView from={list} isEmpty={({ items }) => items.length === 0} empty={texts.noTickets}>
          {({ items }) => (
            <ul className="rows">
              {items.map((ticket) => (
                <li key={ticket.id}>
                  <span>
                    <a href={addressOf('tickets', ticket.id)}>{ticket.title}</a>
                    <span className="soft"> {dateAndTime(ticket.updated_at, language)}</span>
                  </span>
                  <span className={ticket.status === 'answered' ? 'state active' : 'state'}>
                    {texts.ticketStates[ticket.status] ?? ticket.status}
                  </span>
                </li>
              ))}
            </ul>
          )}
        </LoadedView>
      </section>
      <NewTicket />
    </div>
  );
}

interface Draft {
  title?: string;
  message: string;
  file: File | null;
}

async function attachmentOf({ file }: Draft): Promise<Attachment | Record<never, never>> {
  return file ? uploadAttachment(file) : {};
}

function NewTicket() {
  const texts = useTexts();
  const action = useAction(
    'new-ticket',
    async ({ title = '', ...draft }: Draft) =>
      client.api.tickets.create.mutate({ title, message: draft.message, ...(await attachmentOf(draft)) }),
    ({ id }) => openView('tickets', id),
  );
  return (
    <section className="card">
      <h2>{texts.newTicket}</h2>
      <MessageForm hasTitle isBusy={action.isBusy} error={action.error} onSend={(draft) => action.run(draft)} />
      <Outcome action={action} fields={['title', 'message']} />
    </section>
  );
}

function TicketView({ id }: { id: number }) {
  const texts = useTexts();
  const { ticketChanges } = useAccount();
  const ticket = useLoaded(() => client.api.tickets.get.query({ ticket_id: id }), ticketChanges);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer of support is shown, and seen, at once
  useEffect(() => {
    // Whoever reads the ticket has seen its notifications; that this fails has no consequence for the reader.
    client.api.ticketNotifications.readOfTicket.mutate({ ticket_id: id }).catch(() => undefined);
  }, [ticketChanges]);
  const reply = useAction(
    `reply-${id}`,
    async (draft: Draft) =>
      client.api.tickets.addMessage.mutate({ ticket_id: id, message: draft.message, ...(await attachmentOf(draft)) }),
    ticket.reload,
  );
  return (
    <>
      <p>
        <a href={addressOf('tickets')}>← {texts.myTickets}</a>
      </p>
      <section className="card" data-testid="ticket">
        <LoadedView from={ticket}>
          {(value) => (
            <>
              <h2>
                {value.title} <span className="state">{texts.ticketStates[value.status] ?? value.status}</span>
              </h2>
              <ol className="messages" aria-live="polite">
                {value.messages.map((message) => (
                  <MessageItem key={message.id} message={message} />
                ))}
              </ol>
              {value.is_reply_blocked || value.status === 'closed' ? (
                <p className="soft">{texts.ticketClosed}</p>
              ) : (
                <MessageForm isBusy={reply.isBusy} error={reply.error} onSend={(draft) => reply.run(draft)} />
              )}
              <Outcome action={reply} fields={['message']} />
            </>
          )}
        </LoadedView>
      </section>
    </>
  );
}

function MessageItem({ message }: { message: Message }) {
  const texts = useTexts();
  const language = useLanguage();
  const { media_file_id: fileId, media_type: type } = message;
  return (
    <li className={message.is_from_admin ? 'message support' : 'message'}>
      <p className="soft">
        {message.is_from_admin ? texts.support : texts.you}, {dateAndTime(message.created_at, language)}
      </p>
      <p className="text">{message.message_text}</p>
      {fileId &&
        (type === 'photo' ? (
          <img src={addressOfFile(fileId)} alt={message.media_caption ?? texts.attachedPhoto} />
        ) : (
          <a href={addressOfFile(fileId)} target="_blank" rel="noreferrer">
            {texts.attachedFile}
          </a>
        ))}
    </li>
  );
}

interface MessageFormProps {
  hasTitle?: boolean;
  isBusy: boolean;
  error: unknown;
  /** @returns null when it was not sent */
  onSend: (draft: Draft) => Promise<unknown>;
}

function MessageForm({ hasTitle = false, isBusy, error, onSend }: MessageFormProps) {
  const texts = useTexts();
  const [title, setTitle] = useState('');
  const [message, setMessage] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const isTooLarge = (file?.size ?? 0) > MAX_ATTACHMENT_BYTES;

  async function submit(event: FormEvent) {
    event.preventDefault();
    const sent = await onSend(hasTitle ? { title, message, file } : { message, file });
    if (sent === null) return;
    setTitle('');
    setMessage('');
    setFile(null);
    if (input.current) input.current.value = '';
  }

  return (
    <form onSubmit={submit}>
      {hasTitle && (
        <Field label={texts.ticketTitle} error={error} path="title">
          {(attributes) => (
            <input
              {...attributes}
              name="title"
              required
              maxLength={255}
              value={title}
              onChange={(event) => setTitle(event.target.value)}
            />
          )}
        </Field>
      )}
      <Field label={texts.message} error={error} path="message">
        {(attributes) => (
          <textarea
            {...attributes}
            name="message"
            rows={4}
            required
            maxLength={4000}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
          />
        )}
      </Field>
      <Field label={texts.attachment} hint={texts.attachmentHint}>
        {(attributes) => (
          <input
            {...attributes}
            ref={input}
            type="file"
            name="file"
            onChange={(event) => setFile(event.target.files?.[0] ?? null)}
          />
        )}
      </Field>
      {isTooLarge && (
        <p className="problem" role="alert">
          {texts.fileTooLarge}
        </p>
      )}
      <button type="submit" className="main" disabled={isBusy || isTooLarge}>
        {texts.send}
      </button>
    </form>
  );
}
