import { type FormEvent, useState } from 'react';
import { addressOf } from './routes.ts';
import { client } from './service.ts';
import { Field, LoadedView, Outcome } from './states.tsx';
import { dateAndTime, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

type Settings = Awaited<ReturnType<typeof client.api.notifications.get.query>>;

/** What happened on the account, answers of support, and which messages the service sends. */
export function Notifications() {
  const texts = useTexts();
  const settings = useLoaded(() => client.api.notifications.get.query());
  return (
    <div className="columns">
      <div className="stack">
        <TicketNews />
        <History />
      </div>
      <section className="card" data-testid="notification-settings">
        <h2>{texts.notificationSettings}</h2>
        <LoadedView from={settings}>{(value) => <SettingsForm saved={value} />}</LoadedView>
      </section>
    </div>
  );
}

function History() {
  const texts = useTexts();
  const language = useLanguage();
  const history = useLoaded(() => client.api.notifications.history.query({ limit: 30 }));
  return (
    <section className="card" data-testid="history">
      <h2>{texts.history}</h2>
      <LoadedView from={history} isEmpty={({ notifications }) => notifications.length === 0} empty={texts.nothingYet}>
        {({ notifications }) => (
          <ul className="rows">
            {notifications.map(({ id, message, formatted_amount, created_at }) => (
              <li key={id}>
                <span>
                  {message}
                  <span className="soft"> {dateAndTime(created_at, language)}</span>
                </span>
                {formatted_amount && <strong>{formatted_amount}</strong>}
              </li>
            ))}
          </ul>
        )}
      </LoadedView>
    </section>
  );
}

/** Nothing when support has not answered lately. */
function TicketNews() {
  const texts = useTexts();
  const language = useLanguage();
  const list = useLoaded(() => client.api.ticketNotifications.list.query({ unread_only: true, limit: 10 }));
  const readAll = useAction('read-all', (_input: null) => client.api.ticketNotifications.readAll.mutate(), list.reload);
  if (!list.value || list.value.items.length === 0) return null;
  return (
    <section className="card" data-testid="ticket-news">
      <h2>{texts.ticketNews}</h2>
      <ul className="rows">
        {list.value.items.map(({ id, ticket_id, message, created_at }) => (
          <li key={id}>
            <a href={addressOf('tickets', ticket_id)}>{message ?? texts.noticeReply}</a>
            <span className="soft">{dateAndTime(created_at, language)}</span>
          </li>
        ))}
      </ul>
      <button type="button" className="plain" disabled={readAll.isBusy} onClick={() => void readAll.run(null)}>
        {texts.readAll}
      </button>
    </section>
  );
}

const SWITCHES = [
  'subscription_expiry_enabled',
  'traffic_warning_enabled',
  'balance_low_enabled',
  'news_enabled',
  'promo_offers_enabled',
] as const;
const NUMBERS = ['subscription_expiry_days', 'traffic_warning_percent', 'balance_low_threshold'] as const;

function SettingsForm({ saved }: { saved: Settings }) {
  const texts = useTexts();
  const [draft, setDraft] = useState(saved);
  const save = useAction('notification-settings', (input: Settings) => client.api.notifications.update.mutate(input), setDraft);
  const test = useAction('test-notification', (_input: null) => client.api.notifications.test.mutate());
  function submit(event: FormEvent) {
    event.preventDefault();
    void save.run(draft);
  }
  return (
    <form onSubmit={submit}>
      {SWITCHES.map((name) => (
        <label className="choice" key={name}>
          <input
            type="checkbox"
            name={name}
            checked={draft[name]}
            onChange={(event) => setDraft({ ...draft, [name]: event.target.checked })}
          />
          <span>{texts.notifications[name]}</span>
        </label>
      ))}
      {NUMBERS.map((name) => (
        <Field key={name} label={texts.notifications[name]} error={save.error} path={name}>
          {(attributes) => (
            <input
              {...attributes}
              type="number"
              name={name}
              required
              value={draft[name]}
              onChange={(event) => setDraft({ ...draft, [name]: event.target.valueAsNumber || 0 })}
            />
          )}
        </Field>
      ))}
      <div className="buttons">
        <button type="submit" className="main" disabled={save.isBusy}>
          {texts.save}
        </button>
        <button type="button" className="plain" disabled={test.isBusy} onClick={() => void test.run(null)}>
          {texts.testNotification}
        </button>
      </div>
      <Outcome action={save} done={() => texts.saved} fields={[...NUMBERS]} />
      <Outcome action={test} done={({ message }) => message} />
    </form>
  );
}
