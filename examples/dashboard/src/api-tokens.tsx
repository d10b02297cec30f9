import { type FormEvent, useState } from 'react';
import { Panel, Table } from './panel.tsx';
import { client, sentenceOf, useMay } from './service.ts';
import { dayAndTime, useLanguage, useTexts, wordOf } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

const DAY_MS = 86_400_000;

/** API tokens: what each may do, when it was used, and making, rotating and revoking them. */
export function ApiTokens() {
  const texts = useTexts();
  const language = useLanguage();
  const may = useMay();
  const { apiTokens } = client.admin;
  const tokens = useLoaded(() => apiTokens.list.query());
  const [secret, setSecret] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);

  /** @param work may answer the text of a token, which is shown until the next action */
  const run = (work: () => Promise<object>) => {
    setSecret(null);
    setProblem(null);
    work()
      .then((made) => setSecret('token' in made ? String(made.token) : null), setProblem)
      .finally(tokens.reload);
  };
  function create(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const addresses = String(fields.get('addresses'))
      .split(/[\s,]+/)
      .filter(Boolean);
    run(() =>
      apiTokens.create.mutate({
        name: String(fields.get('name')),
        scopes: fields.getAll('scopes').map(String),
        expires_at: new Date(Date.now() + Number(fields.get('days')) * DAY_MS).toISOString(),
        allowed_addresses: addresses.length === 0 ? null : addresses,
      }),
    );
  }
  const when = (timestamp: string | null | undefined) => (timestamp ? dayAndTime(timestamp, language) : '—');

  return (
    <div className="grid">
      <Panel title={texts.apiTokens} loaded={tokens} testId="api-tokens" isWide>
        {({ items, scopes }) => (
          <>
            {secret !== null && (
              <p role="status" className="break">
                {texts.tokenShownOnce} <code data-testid="token-text">{secret}</code>
              </p>
            )}
            {problem !== null && (
              <p className="problem" role="alert">
                {sentenceOf(problem, texts.denied)}
              </p>
            )}
            <Table
              caption={texts.apiTokens}
              columns={[texts.name, texts.status, texts.scopes, texts.lastUsed, texts.expires, texts.addresses, texts.what]}
              rows={items.map(
                ({ id, name, prefix, is_active, scopes: granted, last_used_at, expires_at, allowed_addresses }) => ({
                  key: id,
                  cells: [
                    `${name} (${prefix}…)`,
                    wordOf(texts, is_active ? 'active' : 'revoked'),
                    granted?.join(', ') ?? texts.everything,
                    when(last_used_at),
                    when(expires_at),
                    allowed_addresses?.join(', ') ?? '—',
                    is_active && may('api_tokens:edit') ? (
                      <>
                        <button type="button" onClick={() => run(() => apiTokens.rotate.mutate({ token_id: id }))}>
                          {texts.rotate}
                        </button>{' '}
                        <button
                          type="button"
                          className="danger"
                          onClick={() => run(() => apiTokens.revoke.mutate({ token_id: id }))}
                        >
                          {texts.revoke}
                        </button>
                      </>
                    ) : null,
                  ],
                }),
              )}
            />
            {may('api_tokens:create') && (
              <form onSubmit={create}>
                <label>
                  {texts.name}
                  <input name="name" required maxLength={255} />
                </label>
                <label>
                  {texts.scopes}
                  <select name="scopes" multiple required size={8}>
                    {scopes.map((scope) => (
                      <option key={scope}>{scope}</option>
                    ))}
                  </select>
                </label>
                <label>
                  {texts.daysValid}
                  <input name="days" type="number" min={1} max={3650} defaultValue={90} required />
                </label>
                <label>
                  {texts.addressesHint}
                  <input name="addresses" />
                </label>
                <button type="submit" className="main">
                  {texts.createToken}
                </button>
              </form>
            )}
          </>
        )}
      </Panel>
    </div>
  );
}
