/** Lists that others publish on the web. */
export interface PublicListPort {
  /**
   * Fetches a text file: https only, public hosts only, at most 10 s and 10 MB, redirects not followed (spec 01 H25).
   * @throws Error whose message names the reason and neither the URL nor an address
   */
  fetchText(url: string): Promise<string>;
}

declare module '../../core/app.ts' {
  interface Ports {
    publicLists: PublicListPort;
  }
}
