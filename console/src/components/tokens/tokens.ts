export const tokensKey = ["tokens"];
