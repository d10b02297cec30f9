import type { App } from '../../../core/app.ts';
import type { PanelUser } from '../ports.ts';
import type { PushCandidate } from './push-repo.ts';

/**
 * The app with a panel that answers the first look-up of this subscription's user from the list that the run has read: of the two or
 * three calls of a push one remains. Every further call goes to the panel, and so does each where the list does not decide: a list that
 * is incomplete, or has another user of this messenger id or e-mail.
 */
export function withListedUser(app: App, { listed, hasNamesake }: PushCandidate, isComplete: boolean): App {
  if (listed === null && (!isComplete || hasNamesake)) return app;
  const { panel } = app.ports;
  const answered = new Set<string>();
  /** The list's answer for the first call of each kind. */
  const first =
    <Key>(kind: string, fromList: (key: Key) => PanelUser | null | undefined, ask: (key: Key) => Promise<PanelUser | null>) =>
    async (key: Key): Promise<PanelUser | null> => {
      const known = answered.has(kind) ? undefined : fromList(key);
      answered.add(kind);
      return known === undefined ? ask(key) : known;
    };
  const linked = (uuid: string) => (listed?.user.uuid === uuid ? listed.user : undefined);
  // Without a listed user nobody has this messenger id or e-mail.
  const nobody = () => (listed === null ? null : undefined);
  const answers = {
    findByUuid: first('uuid', linked, panel.findByUuid),
    findByMessengerId: first('messenger', nobody, panel.findByMessengerId),
    findByEmail: first('email', nobody, panel.findByEmail),
  };
  return { ...app, ports: { ...app.ports, panel: { ...panel, ...answers } } };
}
