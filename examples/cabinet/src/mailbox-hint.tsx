import { API_URL, client } from './service.ts';
import { useTexts } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

/** Only a sandbox has a mailbox that everyone can read. */
export function MailboxHint() {
  const texts = useTexts();
  const { value } = useLoaded(() => client.open.health.check.query());
  if (!value?.sandbox.includes('mail')) return null;
  return (
    <p className="hint">
      {texts.sandboxMail}{' '}
      <a href={`${API_URL}/sandbox`} target="_blank" rel="noreferrer">
        {texts.openMailbox}
      </a>
    </p>
  );
}
