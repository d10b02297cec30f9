/** Published releases of a repository (spec 06 section 14, updates). */

declare module '../../core/app.ts' {
  interface Ports {
    releases: ReleasePort;
  }
}

export interface Release {
  tagName: string;
  /** The tag where it has none. */
  name: string;
  /** Notes in Markdown; empty without any. */
  body: string;
  /** ISO 8601 in UTC. */
  publishedAt: string;
  prerelease: boolean;
}

export interface ReleasePort {
  /**
   * The newest 20 releases in the order of the platform, without drafts, read within 10 s.
   * @param repo `owner/name`
   * @throws Error when they could not be read
   */
  listReleases(repo: string): Promise<Release[]>;
  /** The page of the repository. */
  pageOf(repo: string): string;
}
