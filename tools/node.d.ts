// What the scorer uses of node, for `make page`.
declare const module: any;
declare const process: any;
declare const require: any;
declare module "node:fs";
