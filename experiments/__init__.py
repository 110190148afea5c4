"""Small trainings on one budget, to compare kinds of models; nothing that people use is made here."""
