import type { App } from '../../core/app.ts';

/** External squads of the panel for the tariff form; an empty list on any failure of the panel (spec 02 section 10). */
export async function listExternalSquads(app: App): Promise<{ uuid: string; name: string; membersCount: number }[]> {
  return app.ports.panel.listExternalSquads().catch((error: unknown) => {
    app.log.warn({ err: error }, 'the external squads could not be read from the panel');
    return [];
  });
}
