import { CabinetError } from '@subscription-service/client';
import { useEffect, useState } from 'react';
import { originOfVisit } from './arrival.tsx';
import { client, sentenceOf } from './service.ts';
import { useTexts } from './texts.ts';

type Request = Awaited<ReturnType<typeof client.api.auth.deepLink.request.mutate>>;

const POLL_MS = 2_500;
const PENDING = 202;

interface Props {
  onDone: () => void;
  /** @returns whether the caller goes on with it, as with a second factor */
  onRefused: (error: unknown) => boolean;
}

/** A sign-in that is confirmed in the bot: the link is opened in the messenger, and this page asks until it is confirmed. */
export function DeepLinkSignIn({ onDone, onRefused }: Props) {
  const texts = useTexts();
  const [request, setRequest] = useState<Request | null>(null);
  const [error, setError] = useState<unknown>(null);
  const begin = () => {
    setError(null);
    client.api.auth.deepLink.request.mutate().then(setRequest, setError);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: another request is what begins to ask
  useEffect(() => {
    if (!request) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    const ask = async () => {
      const { campaign_slug } = originOfVisit();
      try {
        const answer = await client.api.auth.deepLink.poll.mutate({ token: request.token, campaign_slug });
        if (isOver) return;
        await client.session.start(answer);
        onDone();
      } catch (problem) {
        if (isOver) return;
        const isPending = problem instanceof CabinetError && (problem.status === PENDING || problem.isTransient);
        if (isPending) timer = setTimeout(ask, POLL_MS);
        else {
          setRequest(null);
          if (!onRefused(problem)) setError(problem);
        }
      }
    };
    timer = setTimeout(ask, POLL_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [request]);

  return (
    <div className="stack" data-testid="deep-link">
      {request ? (
        <>
          <a
            className="main"
            href={`https://t.me/${request.bot_username}?start=webauth_${request.token}`}
            target="_blank"
            rel="noreferrer"
          >
            {texts.openBot}
          </a>
          <p className="hint" role="status">
            {texts.confirmInBot}
          </p>
        </>
      ) : (
        <button type="button" className="plain" onClick={begin}>
          {texts.signInByBot}
        </button>
      )}
      {error !== null && (
        <p className="problem" role="alert">
          {sentenceOf(error)}
        </p>
      )}
    </div>
  );
}
