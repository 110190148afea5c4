"""What several test files share: tiny models, folders, a stand-in for the Hub, pages and browsers."""
