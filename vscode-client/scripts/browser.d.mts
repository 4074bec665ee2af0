export declare const BUILT: string;
/** Name of a file -> its content. */
export declare function browserFiles(): Promise<Record<string, string>>;
export declare function buildBrowser(): Promise<void>;
