"""The product on a laptop: no AWS account, no OpenAI key, no WhatsApp number."""
