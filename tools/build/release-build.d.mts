export declare const RELEASE_BUILD: Readonly<Record<string, string>>;
